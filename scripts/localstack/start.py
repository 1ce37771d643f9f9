"""Starts LocalStack without containers: moto stores its tables, and its functions are processes."""

import os
import sys
from pathlib import Path
from threading import Lock

COMPOSE = Path(__file__).parents[2] / "localstack" / "compose.yaml"


def take_function_flags() -> None:
    """Sets the functions' environment as compose.yaml does, with the address of this LocalStack."""
    import yaml

    flags = yaml.safe_load(COMPOSE.read_text())["services"]["localstack"]["environment"]["LAMBDA_DOCKER_FLAGS"]
    here = flags.replace("localhost.localstack.cloud:4566", os.environ["GATEWAY_LISTEN"])
    if here == flags:
        sys.exit(f"{COMPOSE}: LAMBDA_DOCKER_FLAGS does not name LocalStack: {flags}")
    os.environ["LAMBDA_DOCKER_FLAGS"] = here


def give_tables_to_moto() -> None:
    """Makes moto, which LocalStack includes for other services, store the tables.

    LocalStack itself has them kept by DynamoDB Local, which AWS licenses to holders of an account.
    """
    from localstack.aws.api.dynamodb import DynamodbApi
    from localstack.aws.forwarder import ForwardingFallbackDispatcher
    from localstack.services import providers
    from localstack.services.moto import call_moto
    from localstack.services.plugins import Service, aws_provider

    alone = Lock()  # moto's transactions do not lock

    def call(context, request):
        with alone:
            return call_moto(context)

    @aws_provider()
    def dynamodb():
        return Service.for_provider(DynamodbApi(), dispatch_table_factory=lambda p: ForwardingFallbackDispatcher(p, call))

    providers.dynamodb = dynamodb


def run_functions_as_processes() -> None:
    from localstack.services.lambda_.invocation.plugins import DockerRuntimeExecutorPlugin

    def load(self, *_):
        from functions import Process

        return Process

    DockerRuntimeExecutorPlugin.load = load


if __name__ == "__main__":
    if sys.version_info < (3, 13):
        import python311

        python311.apply()
    take_function_flags()
    give_tables_to_moto()
    run_functions_as_processes()
    from localstack.runtime.main import main

    main()
