"""Runs functions as processes on this machine instead of in LocalStack's containers."""

import os
import subprocess
import time
from concurrent.futures import Future
from http import HTTPStatus
from queue import SimpleQueue
from tempfile import TemporaryFile
from threading import Thread

from localstack import config
from localstack.services.lambda_.invocation.lambda_models import InvocationResult
from localstack.services.lambda_.invocation.runtime_executor import RuntimeExecutor
from localstack.utils.container_utils.container_client import Util
from werkzeug import Request, Response
from werkzeug.serving import WSGIRequestHandler, make_server

RUNTIME_API = "/2018-06-01/runtime"
START_TIMEOUT = 20  # seconds until it asks for its first event, as in LocalStack


class QuietHandler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, *_):
        pass


class Process(RuntimeExecutor):
    """One process of a function, with its own Runtime API for its events."""

    def start(self, env_vars: dict[str, str]) -> None:
        self.reply, self.said = None, 0
        self.api = make_server("127.0.0.1", 0, self.serve, threaded=True, request_handler=QuietHandler)
        Thread(target=self.api.serve_forever, daemon=True).start()
        self.output = TemporaryFile(buffering=0)
        env = Util.parse_additional_flags(config.LAMBDA_DOCKER_FLAGS, env_vars=env_vars).env_vars
        self.env = {k: str(v) for k, v in env.items()} | {"AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self.api.port}"}
        self.launch()

    def launch(self) -> None:
        self.events, self.ready = SimpleQueue(), Future()
        code = self.function_version.config.code.get_unzipped_code_location()
        self.process = subprocess.Popen([code / "bootstrap"], cwd=code, env=self.env, stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=self.output)
        Thread(target=self.watch, args=(self.process, self.ready), daemon=True).start()
        self.ready.result(START_TIMEOUT)

    def stop(self) -> None:
        self.process.kill()
        self.events.put(None)
        self.api.shutdown()

    def invoke(self, payload: dict[str, str]) -> InvocationResult:
        if self.process.poll() is not None:  # it ended, or was ended by the last call's timeout
            self.launch()
        self.request, self.reply, self.said = payload, Future(), os.fstat(self.output.fileno()).st_size
        timeout = self.function_version.config.timeout
        self.events.put((payload, int((time.time() + timeout) * 1000)))
        try:
            return self.reply.result(timeout)
        except TimeoutError:
            self.process.kill()
            self.process.wait()
            return self.result(f'{{"errorMessage":"Task timed out after {timeout}.00 seconds"}}'.encode(), True)

    def result(self, body: bytes, is_error: bool) -> InvocationResult:
        return InvocationResult(self.request["invoke-id"], body, is_error, self.get_logs())

    def watch(self, process: subprocess.Popen, ready: Future) -> None:
        """Fails the calls that wait for the process when it ends."""
        code = process.wait()
        for waiting in (ready, self.reply if process is self.process else None):
            if waiting and not waiting.done():
                waiting.set_exception(RuntimeError(f"the function ended with status {code}: {self.get_logs()}"))

    @Request.application
    def serve(self, request: Request) -> Response:
        body = request.get_data()
        match request.path.removeprefix(RUNTIME_API).strip("/").split("/"):
            case ["invocation", "next"]:
                if not self.ready.done():
                    self.ready.set_result(True)
                if (event := self.events.get()) is None:
                    return Response(status=HTTPStatus.GONE)
                payload, deadline = event
                return Response(payload["payload"], headers={
                    "Lambda-Runtime-Aws-Request-Id": payload["invoke-id"], "Lambda-Runtime-Deadline-Ms": str(deadline),
                    "Lambda-Runtime-Invoked-Function-Arn": payload["invoked-function-arn"],
                    "Lambda-Runtime-Trace-Id": payload["trace-id"]})
            case ["invocation", request_id, ("response" | "error") as outcome] if request_id == self.request["invoke-id"]:
                if not self.reply.done():
                    self.reply.set_result(self.result(body, outcome == "error"))
                return Response(status=HTTPStatus.ACCEPTED)
        return Response(status=HTTPStatus.NOT_FOUND)

    def get_logs(self) -> str:
        size = os.fstat(self.output.fileno()).st_size
        return os.pread(self.output.fileno(), size - self.said, self.said).decode(errors="replace")

    def get_address(self) -> str:
        return "127.0.0.1"

    def get_endpoint_from_executor(self) -> str:
        return "127.0.0.1"

    def get_runtime_endpoint(self) -> str:
        return ""

    @classmethod
    def prepare_version(cls, function_version) -> None:
        function_version.config.code.prepare_for_execution()

    @classmethod
    def cleanup_version(cls, function_version) -> None:
        pass
