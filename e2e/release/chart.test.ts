// SPDX-License-Identifier: Apache-2.0
/** The archive of the Helm chart, in a real registry, signed, and installed from there by Helm's own client. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { goPrograms } from "@switchyard/go-programs";
import { findWorkspaceRoot, outputOf } from "@switchyard/testing";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { startRegistry, type Registry } from "../cluster/registry.ts";

const root = findWorkspaceRoot();
const directory = mkdtempSync(join(tmpdir(), "switchyard-chart-"));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
/** What GitHub sets in the run of a workflow. */
const run = {
  GITHUB_SERVER_URL: "https://github.com",
  GITHUB_REPOSITORY: "o/r",
  GITHUB_EVENT_NAME: "push",
  GITHUB_REF: "refs/tags/v1",
  GITHUB_WORKFLOW_REF: "o/r/.github/workflows/release.yml@refs/tags/v1",
  GITHUB_REPOSITORY_ID: "1",
  GITHUB_REPOSITORY_OWNER_ID: "2",
  RUNNER_ENVIRONMENT: "github-hosted",
  GITHUB_SHA: "a".repeat(40),
  GITHUB_RUN_ID: "3",
  GITHUB_RUN_ATTEMPT: "1",
  COSIGN_PASSWORD: "",
  SOURCE_DATE_EPOCH: "1770000000",
};
let registry: Registry;
let cosign: string;

function release(...args: readonly string[]): Promise<string> {
  return outputOf(process.execPath, [join(root, "tools/release/src/main.ts"), ...args], { cwd: root, env: run });
}

beforeAll(async () => {
  registry = await startRegistry();
  cosign = join(await goPrograms("cosign"), "cosign");
  const prefix = ["--output-key-prefix", join(directory, "cosign")];
  await outputOf(cosign, ["generate-key-pair", ...prefix], { env: { COSIGN_PASSWORD: "" } });
}, 1_200_000);

afterAll(async () => {
  await disposeOf(registry);
  rmSync(directory, { recursive: true, force: true });
});

describe("the chart", () => {
  it("is pushed and signed with its origin, and Helm renders it from the registry", async () => {
    const repository = `localhost:${registry.port}/charts`;
    const sign = ["--sign", "--key", join(directory, "cosign.key")];
    const printed = await release("chart", "--output", join(directory, "a"), "--push", repository, ...sign);
    const reference = printed.trim().split("\n").at(-1)?.replace("oci://", "") ?? "";
    expect(reference).toMatch(new RegExp(`^${repository}/switchyard@sha256:[0-9a-f]{64}$`));

    const trust = ["--key", join(directory, "cosign.pub"), "--insecure-ignore-tlog=true", "--allow-http-registry"];
    await outputOf(cosign, ["verify", ...trust, reference]);
    const attested = await outputOf(cosign, ["verify-attestation", ...trust, "--type", "slsaprovenance1", reference]);
    const { payload } = JSON.parse(attested) as { payload: string };
    expect(JSON.parse(Buffer.from(payload, "base64").toString())).toMatchObject({
      predicate: { buildDefinition: { resolvedDependencies: [{ digest: { gitCommit: run.GITHUB_SHA } }] } },
    });

    for (const name of ["helm3", "helm4"] as const) {
      const helm = join(await goPrograms(name), "helm");
      const args = [
        "template",
        "x",
        `oci://${repository}/switchyard`,
        "--version",
        version,
        "--plain-http",
        "--kube-version",
        "1.36.0",
      ];
      expect(await outputOf(helm, args)).toContain("kind: Deployment");
    }
  }, 300_000);

  it("is the same archive if it is packaged again", async () => {
    const archives = ["a", "b"].map((name) => join(directory, name, `switchyard-${version}.tgz`));
    await release("chart", "--output", join(directory, "b"));
    const [first, second] = archives.map((archive) => readFileSync(archive));
    expect(second).toEqual(first);
  }, 60_000);
});
