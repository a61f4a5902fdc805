"""Studies of the kind "image-model": a model of images as a release, and the images behind it."""
