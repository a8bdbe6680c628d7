"""What a drawing is: strokes, lost regions and damage, canvas, patches, simplification, distances, pictures."""
