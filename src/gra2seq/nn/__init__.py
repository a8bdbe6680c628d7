"""Layers: patch CNN, link rules, graph convolution, centroids, LSTM, stroke decoder, pen moves."""
