"""The bricks: patch CNN, proximities, graph convolution, centroids, mixture, decoder."""
