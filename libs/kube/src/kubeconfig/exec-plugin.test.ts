// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { FakeClock } from "../testing/fake-clock.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { authenticateByKubeconfig } from "./authenticate.ts";
import { completeUser } from "./complete-user.ts";
import { readKubeconfigFile } from "./kubeconfig-file.ts";

const apiVersion = "client.authentication.k8s.io/v1";
const cluster = {
  name: "c",
  server: "https://api",
  skipTLSVerify: false,
  caData: Buffer.from("CA").toString("base64"),
};

/** Returns a user with this shell script, in the folder of the kubeconfig, as exec plugin. */
async function setUp(script: string, exec: object = {}) {
  const directory = await TemporaryDirectory.of();
  await directory.write("login", `#!/bin/sh\n${script}\n`, 0o700);
  const user = { exec: { apiVersion, command: "./login", ...exec } };
  await directory.write("config", JSON.stringify({ users: [{ name: "u", user }] }));
  const file = await readKubeconfigFile(directory.file("config"));
  const clock = new FakeClock();
  const found = file.config.getUser("u") ?? { name: "" };
  const source = authenticateByKubeconfig(cluster, completeUser(file, found, cluster), clock);
  return {
    directory,
    clock,
    source,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

const answer = (status: object) => `echo '${JSON.stringify({ apiVersion, kind: "ExecCredential", status })}'`;

describe("an exec plugin", () => {
  it("provides a token or a certificate", async () => {
    await using token = await setUp(answer({ token: "secret" }));
    expect((await token.source.current()).headers).toEqual({ authorization: "Bearer secret" });
    await using pair = await setUp(answer({ clientCertificateData: "CERT", clientKeyData: "KEY" }));
    expect((await pair.source.current()).tls).toEqual({ ca: "CA", cert: "CERT", key: "KEY" });
  });

  it("gets its arguments, its environment and KUBERNETES_EXEC_INFO", async () => {
    const script = `test "$KUBERNETES_EXEC_INFO" = "$WANTED" || exit 8
echo '{"apiVersion":"${apiVersion}","kind":"ExecCredential","status":{"token":"'$1-$A'"}}'`;
    const info = {
      server: cluster.server,
      "certificate-authority-data": cluster.caData,
    };
    const WANTED = JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive: false, cluster: info } });
    const env = Object.entries({ A: "y", WANTED }).map(([name, value]) => ({ name, value }));
    await using it = await setUp(script, { args: ["x"], env, provideClusterInfo: true });
    expect((await it.source.current()).headers).toEqual({ authorization: "Bearer x-y" });
  });

  it("runs again only when its credentials have expired or were rejected", async () => {
    const expiring = (from: string) => `cd "$(dirname "$0")"; echo run >> runs
cat << END
{"apiVersion":"${apiVersion}","kind":"ExecCredential",
 "status":{"token":"t-$(grep -c run runs)","expirationTimestamp":"${from}"}}
END`;
    await using valid = await setUp(expiring("2999-01-01T00:00:00Z"));
    const token = async () => (await valid.source.current()).headers["authorization"];
    expect(await Promise.all([token(), token()])).toEqual(["Bearer t-1", "Bearer t-1"]);
    expect(await token()).toBe("Bearer t-1");
    valid.source.refused();
    expect(await token()).toBe("Bearer t-2");
    expect(await token()).toBe("Bearer t-2");

    await using expired = await setUp(expiring("2026-01-01T00:00:00Z"));
    await expired.source.current();
    expect((await expired.source.current()).headers).toEqual({ authorization: "Bearer t-2" });
  });

  it.each([
    { problem: "a plugin that fails", script: "echo 'log in first' >&2; exit 3", words: "log in first" },
    { problem: "output that is not JSON", script: "echo hello", words: "the output is not JSON" },
    {
      problem: "no status",
      script: answer({}).replace('"status"', '"spec"'),
      words: "not an ExecCredential with a status",
    },
    { problem: "an empty status", script: answer({}), words: "neither a token nor a certificate" },
  ])("rejects with BadConfig for $problem", async ({ script, words }) => {
    await using it = await setUp(script);
    const failure = it.source.current();
    await expect(failure).rejects.toMatchObject({ code: "BadConfig" });
    await expect(failure).rejects.toThrow(`exec plugin ${it.directory.file("login")} of user "u": `);
    await expect(failure).rejects.toThrow(words);
  });

  it("is named in the error when it cannot be started", async () => {
    await using missing = await setUp("", { command: "/nowhere/login" });
    await expect(missing.source.current()).rejects.toThrow(
      'exec plugin /nowhere/login of user "u": spawn /nowhere/login ENOENT',
    );
    await using unknown = await setUp("", { command: "no-such-login" });
    await expect(unknown.source.current()).rejects.toThrow("spawn no-such-login ENOENT");
    await using locked = await setUp("", { command: "./config" });
    await expect(locked.source.current()).rejects.toThrow("EACCES");
  });

  it("times out after a minute and does not run twice at the same time", async () => {
    await using it = await setUp(`cd "$(dirname "$0")"; echo run >> runs; until test -e go; do sleep 0.02; done
${answer({ token: "late" })}`);
    for (let attempt = 0; attempt < 2; attempt++) {
      const failure = expect(it.source.current()).rejects.toThrow("no credentials within 60 s");
      await it.clock.advance(60_000);
      await failure;
    }
    const wanted = it.source.current();
    await it.directory.write("go", "");
    expect((await wanted).headers).toEqual({ authorization: "Bearer late" });
    expect(await it.directory.read("runs")).toBe("run\n");
  });

  it("does not put a token into an error", async () => {
    const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSIsImV4cCI6MTc2MzcyNjQwMH0.c2lnbmF0dXJlIG9mIHRoZSB0b2tlbg";
    for (const script of [`echo "${token}"`, `echo "refused: ${token}" >&2; exit 1`]) {
      await using it = await setUp(script, { args: ["--token", token] });
      const failure: unknown = await it.source.current().catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "BadConfig", cause: undefined });
      expect(String(failure)).not.toContain("c2lnbmF0dXJl");
    }
  });
});
