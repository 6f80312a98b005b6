"""The stack of API and functions as it is deployed, made without its zips: for tests and for cfn-lint.

`python -m infra.stack.app_template FILE` writes it. What `make package` makes differs in the names of the zips alone.
"""

from __future__ import annotations

import copy
import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from infra import package
from infra.stack import merging


@lru_cache
def whole() -> dict[str, Any]:
    """Chalice's template of the app with ours in it. A change of it is a change for every stage."""
    return merging.merged(_chalice_template())


def _chalice_template() -> dict[str, Any]:
    """What Chalice makes of the app: its generator is asked for the template alone."""
    from chalice.cli.factory import CLIFactory
    from chalice.deploy.appgraph import ApplicationGraphBuilder, DependencyBuilder
    from chalice.deploy.deployer import BuildStage
    from chalice.deploy.swagger import CFNSwaggerGenerator
    from chalice.package import SAMTemplateGenerator

    config = CLIFactory(project_dir=str(package.ROOT)).create_config_obj("dev")
    graph = ApplicationGraphBuilder().build(config, "dev")
    resources = DependencyBuilder().build_dependencies(graph)
    stage = BuildStage([_Swagger(CFNSwaggerGenerator()), _NoZip()])
    stage.execute(config, resources)
    template: dict[str, Any] = SAMTemplateGenerator(config, _Endpoints()).generate(resources)
    return template


def expanded(template: dict[str, Any], given: dict[str, str] | None = None) -> dict[str, Any]:
    """What CloudFormation makes of a template with SAM's short forms: those written out, as SAM itself does it.

    Args:
        template: stays as it is. Its code need not have been sent anywhere.
        given: values of parameters; SAM needs some to name what it makes.
    """
    from samtranslator.translator.transform import transform

    made = copy.deepcopy(template)
    for resource in made["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function" and not resource["Properties"]["CodeUri"].startswith("s3:"):
            resource["Properties"]["CodeUri"] = "s3://code/code.zip"
    result: dict[str, Any] = transform(made, given or {}, _NoPolicies())
    return result


class _NoPolicies:
    """What SAM asks for the managed policies of AWS: nothing of ours names one."""

    def load(self) -> dict[str, str]:
        return {}


class _Swagger:
    def __init__(self, generator: Any) -> None:
        self.generator = generator

    def handle(self, config: Any, resource: Any) -> None:
        if hasattr(resource, "swagger_doc"):
            resource.swagger_doc = self.generator.generate_swagger(config.chalice_app, resource)


class _NoZip:
    def handle(self, _config: Any, resource: Any) -> None:
        if hasattr(resource, "deployment_package"):
            resource.deployment_package.filename = "./deployment.zip"


class _Endpoints:
    def service_principal(self, service: str) -> str:
        return f"{service}.amazonaws.com"


def main(path: str) -> None:
    """Write the template; the app reads its configuration when it is imported, so it gets names of nothing."""
    os.environ.update(package.placeholders())
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    package.write_template(Path(path), whole())


if __name__ == "__main__":
    main(sys.argv[1])
