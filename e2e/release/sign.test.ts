// SPDX-License-Identifier: Apache-2.0
/** Signatures and statements as a release makes them, in a real registry, with a key instead of a workflow's identity. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { goPrograms } from "@switchyard/go-programs";
import { signArtifact } from "@switchyard/release";
import { outputOf } from "@switchyard/testing";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { startRegistry, type Registry } from "../cluster/registry.ts";

const directory = mkdtempSync(join(tmpdir(), "switchyard-sign-"));
const key = join(directory, "cosign.key");
const publicKey = join(directory, "cosign.pub");
const predicate = join(directory, "predicate.json");
let registry: Registry;
let cosign: string;

/** Pushes an artifact with one file, and returns its reference with the digest. */
async function push(name: string): Promise<string> {
  const tree = join(directory, name);
  mkdirSync(tree);
  writeFileSync(join(tree, "file"), name);
  const digest = await registry.push(`test/${name}:1`, { tree, entryPoint: ["/file"] });
  return `localhost:${registry.port}/test/${name}@${digest}`;
}

function verify(verb: "verify" | "verify-attestation", reference: string, ...more: readonly string[]): Promise<string> {
  const options = ["--key", publicKey, "--insecure-ignore-tlog=true", "--allow-http-registry", ...more];
  return outputOf(cosign, [verb, ...options, reference]);
}

beforeAll(async () => {
  cosign = join(await goPrograms("cosign"), "cosign");
  registry = await startRegistry();
  process.env["COSIGN_PASSWORD"] = "";
  await outputOf(cosign, ["generate-key-pair", "--output-key-prefix", join(directory, "cosign")]);
  writeFileSync(predicate, JSON.stringify({ buildDefinition: { buildType: "https://example.com/test" } }));
}, 1_200_000);

afterAll(async () => {
  await disposeOf(registry);
  rmSync(directory, { recursive: true, force: true });
});

describe("signArtifact", () => {
  it("signs the artifact and attaches the statement", async () => {
    const reference = await push("signed");
    await signArtifact({ reference, key, statements: [{ type: "slsaprovenance1", predicate }] });

    await verify("verify", reference);
    const attested = JSON.parse(await verify("verify-attestation", reference, "--type", "slsaprovenance1")) as {
      readonly payload: string;
    };
    const statement = JSON.parse(Buffer.from(attested.payload, "base64").toString()) as Record<string, unknown>;
    expect(statement).toMatchObject({
      predicate: { buildDefinition: { buildType: "https://example.com/test" } },
      subject: [{ digest: { sha256: reference.split("@sha256:")[1] } }],
    });
  }, 120_000);

  it("does not make others trusted", async () => {
    await expect(verify("verify", await push("unsigned"))).rejects.toThrow(/no (?:matching )?signatures/i);
  }, 60_000);

  it("refuses a tag, which may be moved", async () => {
    const reference = `localhost:${registry.port}/test/signed:1`;
    await expect(signArtifact({ reference, key, statements: [] })).rejects.toThrow("must have a digest");
  });
});
