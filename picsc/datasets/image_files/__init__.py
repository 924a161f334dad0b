"""Readers of images in files, one module a format.

- `assemble`: an `ImageSet` from arrays of pixels and labels, checked
- `cifar`: CIFAR-10 and CIFAR-100 as their authors distribute them, in Python's pickle or in the binary version
- `folders`: the choice of a reader for a folder of images, and images in npz archives
- `idx`: IDX, the format of MNIST and similar sets: a header with the shape, then bytes
- `svhn`: SVHN's cropped digits as their authors distribute them, in two MATLAB files
"""
