"""Picture files: imported images, rendered frames, drawings and thumbnails."""
