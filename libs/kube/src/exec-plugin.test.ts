// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { runExecPlugin, type ExecPlugin } from "./exec-plugin.ts";
import { TemporaryDirectory } from "./testing/temporary-directory.ts";

const apiVersion = "client.authentication.k8s.io/v1";

/** Runs a plugin that is this shell script. */
async function run(script: string, plugin: Partial<ExecPlugin> = {}) {
  await using directory = await TemporaryDirectory.of();
  await directory.write("login", `#!/bin/sh\n${script}\n`, 0o700);
  return await runExecPlugin({ apiVersion, command: directory.file("login"), args: [], env: {}, ...plugin });
}

const answer = (status: object) => `echo '${JSON.stringify({ apiVersion, kind: "ExecCredential", status })}'`;

describe("runExecPlugin", () => {
  it("gives the token or certificate that the plugin writes, and until when it is good", async () => {
    const expirationTimestamp = "2026-11-20T10:00:00Z";
    expect(await run(answer({ token: "secret", expirationTimestamp }))).toMatchObject({
      token: "secret",
      expiresAt: new Date(expirationTimestamp),
    });
    expect(await run(answer({ clientCertificateData: "CERT", clientKeyData: "KEY" }))).toMatchObject({
      clientCertificate: "CERT",
      clientKey: "KEY",
      expiresAt: undefined,
    });
  });

  it("tells the plugin its arguments, its environment and what is asked, and that nobody is there", async () => {
    const script = `read line && exit 9; test "$KUBERNETES_EXEC_INFO" = "$WANTED" || exit 8
echo '{"apiVersion":"${apiVersion}","kind":"ExecCredential","status":{"token":"'$1-$A'"}}'`;
    const cluster = { server: "https://api" };
    const WANTED = JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive: false, cluster } });
    expect(await run(script, { args: ["x"], env: { A: "y", WANTED }, cluster })).toMatchObject({ token: "x-y" });
  });

  it.each([
    { problem: "a plugin that fails", script: "echo 'log in first' >&2; exit 3", words: "log in first" },
    { problem: "no JSON", script: "echo hello", words: "JSON" },
    { problem: "another version", script: answer({}).replace("/v1", "/v1beta1"), words: "is no ExecCredential" },
    { problem: "no status", script: answer({}).replace('"status"', '"spec"'), words: "is no ExecCredential" },
  ])("rejects with BadConfig for $problem", async ({ script, words }) => {
    const failure = run(script);
    await expect(failure).rejects.toMatchObject({ code: "BadConfig" });
    await expect(failure).rejects.toThrow(words);
  });

  it("rejects with BadConfig when there is no such program", async () => {
    const failure = runExecPlugin({ apiVersion, command: "/nowhere/login", args: [], env: {} });
    await expect(failure).rejects.toMatchObject({ code: "BadConfig", cause: { code: "ENOENT" } });
  });
});
