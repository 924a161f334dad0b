"""Readers of images: one file a format.

- `assemble`: from arrays of pixels and labels to one `ImageSet`
- `cifar`: CIFAR-10 and CIFAR-100 as their authors give them out: pickled batches for Python, or the binary version
- `folders`: image sets in files, as their authors give them out
- `idx`: IDX, the format of MNIST and its relatives: a header that promises a shape, then bytes
- `svhn`: SVHN's cropped digits as their authors give them out: two MATLAB files
"""
