"""Is it any good: pictures and figures of trained models."""
