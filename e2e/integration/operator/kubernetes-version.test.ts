// SPDX-License-Identifier: Apache-2.0
/** The operator and an API server of an unsupported release: the operator requests /version and nothing else. */
import { expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OperatorProcess } from "../../src/operator/operator-process.ts";

const testMs = 2 * 60_000;
const main = join(findWorkspaceRoot(), "apps/operator/src/main.ts");

it(
  "an operator on Kubernetes 1.29 exits at once, reports the version that it needs, and writes nothing",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "switchyard-version-"));
    const asked: string[] = [];
    const server = createServer(({ method, url }, response) => {
      asked.push(`${method ?? ""} ${url ?? ""}`);
      const info = { major: "1", minor: "29+", gitVersion: "v1.29.4-eks-1" };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(info));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    try {
      const flags = ["--health-address", "0", "--metrics-address", "0"];
      const to = { main, server: `http://127.0.0.1:${port}`, namespace: "sriov", directory, flags };
      await using operator = await OperatorProcess.start(to);
      expect(await operator.exited()).toBe(1);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    expect(asked).toEqual(["GET /version"]);
    const lines = (await readFile(join(directory, "operator.log"), "utf8")).trim().split("\n");
    const last: unknown = JSON.parse(lines.at(-1) ?? "");
    expect(last).toMatchObject({
      error: "Kubernetes 1.29 is not supported: Switchyard needs 1.30 or later. Nothing was changed",
    });
    expect(lines.filter((line) => line.includes('"level":"error"'))).toHaveLength(1);
    await rm(directory, { recursive: true });
  },
  testMs,
);
