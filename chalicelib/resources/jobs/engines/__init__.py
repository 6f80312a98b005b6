"""Engines of workflows behind one interface: a job cluster with Argo on Kubernetes, or AWS Batch on Fargate.

base          the interface, statuses, errors
kubernetes    an organization's own cluster
batch         the deployment's own queue: Batch's calls
batch_jobs    a node as a Batch job: images, sizes, files
"""
