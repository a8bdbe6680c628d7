"""What a drawing is: strokes, files, canvas, patches, masking, quadtree."""
