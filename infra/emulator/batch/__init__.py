"""AWS Batch on this machine: the calls of its API that the service makes, and the jobs themselves.

calls       the API: submit, describe, list, terminate, definitions; the output of jobs as CloudWatch Logs has it
store       the jobs on disk, in one SQLite file
scheduler   what runs next, how much runs at once, what a restart does
tasks       one attempt of a job: files in, the container, files out
logs        the last of what a job printed
wiring      how boto3 clients of this process reach `calls`
queue       all of it together: what `make run` starts and stops
events      the functions that EventBridge would call
steps       containers of jobs, run by docker, by podman or as plain processes
"""
