"""The commits of a project, their archive, and the tasks scheduled from them."""
