"""How a trained model draws: sampling, guidance by the visible ink, the best of several, keeping lines."""
