"""Corruptions of images, each in five severities. Letters: n images, c channels, s pixels a side.

Source: Hendrycks and Dietterich, "Benchmarking Neural Network Robustness to Common Corruptions and Perturbations" (ICLR
2019), for coloured images; Mu and Gilmer, "MNIST-C: A Robustness Benchmark for Computer Vision" (2019), for grey ones.

A corruption is a function of images (n, c, s, s) from 0 to 1, its strength, and a generator of random numbers.

- `blur`: blur by a lens out of focus, by frosted glass, by motion and by zooming
- `corrupt`: corruption of images by its name and severity; the two families of fifteen corruptions
- `digital`: lower contrast, larger pixels and the loss of JPEG
- `edges`: Canny's edges in place of the image
- `geometry`: shear, scale, rotation, translation and elastic deformation
- `marks`: a stripe of inverted pixels, and dotted and zigzag lines
- `noise`: Gaussian, shot and impulse noise
- `plasma`: random clouds from diamond-square subdivision
- `sampling`: values of images between their pixels
- `weather`: snow, frost, fog, brightness and spatter
"""
