"""Readers of images in files, one module a format.

- `assemble`: an `ImageSet` from arrays of pixels and labels, checked
- `bounds`: the most bytes that files of images may unpack to, checked before they are in memory
- `cifar`: CIFAR-10 and CIFAR-100 as their authors distribute them, in Python's pickle or in the binary version
- `class_folders`: pictures in one folder per class, as the authors of Caltech-101 distribute them
- `corrupted`: corrupted images as the authors of CIFAR-10-C, CIFAR-100-C and MNIST-C distribute them
- `folders`: the choice of a reader for a folder of images, and images in npz archives
- `idx`: IDX, the format of MNIST and similar sets: a header with the shape, then bytes
- `pictures`: pictures in files of JPEG, PNG and similar formats, decoded by Pillow and brought to one size
- `stl10`: STL-10's labelled images as its authors distribute them, in binary files
- `svhn`: SVHN's cropped digits as their authors distribute them, in two MATLAB files
- `tiny_imagenet`: Tiny ImageNet as its authors distribute it: pictures in folders, and a list of classes
"""
