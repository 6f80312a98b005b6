"""AWS Batch on this machine: the calls of its API that the service makes, and the jobs themselves.

mode        which of docker, podman and plain processes runs the steps
calls       the API: submit, describe, list, terminate, definitions; the output of jobs as CloudWatch Logs has it
store       the jobs on disk, in one SQLite file
scheduler   what runs next, how much runs at once, what a restart does
tasks       one attempt of a job: files in, the container, files out
processes   a container as a process with limits; `launch_step` is what that process runs first
containers  a container by docker or podman
logs        the last of what a job printed
wiring      how boto3 clients of this process reach `calls`
queue       all of it together: what `make run` starts and stops
callers     whether a connection comes from a step
events      the functions that EventBridge would call
"""
