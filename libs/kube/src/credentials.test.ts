// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createCredentials } from "./credentials.ts";
import type { Endpoint } from "./endpoint.ts";
import { TemporaryDirectory } from "./testing/temporary-directory.ts";

const base = { server: new URL("https://api"), namespace: "ns" };

function create(endpoint: Partial<Endpoint>) {
  let nowMs = Date.parse("2026-11-20T10:00:00Z");
  const source = createCredentials({ ...base, ...endpoint }, () => new Date(nowMs));
  return {
    source,
    pass: (ms: number) => (nowMs += ms),
    token: async () => (await source.current()).headers["authorization"],
  };
}

describe("createCredentials", () => {
  it("reads a token anew every minute, so that a renewed one is used", async () => {
    await using directory = await TemporaryDirectory.of({ token: "one\n" });
    const { pass, token } = create({ token: { file: directory.file("token") } });
    expect(await token()).toBe("Bearer one");
    await directory.write("token", "two\n");
    pass(59_999);
    expect(await token()).toBe("Bearer one");
    pass(1);
    expect(await token()).toBe("Bearer two");
  });

  it("reads it at once when the server has refused the last", async () => {
    await using directory = await TemporaryDirectory.of({ token: "one" });
    const { source, token } = create({ token: { file: directory.file("token") } });
    await token();
    await directory.write("token", "two");
    source.refused();
    expect(await token()).toBe("Bearer two");
  });

  it("gives the same TLS identity until a file of it changes", async () => {
    await using directory = await TemporaryDirectory.of({ ca: "CA", cert: "CERT 1", key: "KEY 1" });
    const { source, pass } = create({
      authority: { file: directory.file("ca") },
      clientCertificate: { file: directory.file("cert") },
      clientKey: { file: directory.file("key") },
    });
    const first = (await source.current()).tls;
    expect(first).toEqual({ ca: "CA", cert: "CERT 1", key: "KEY 1" });
    pass(60_000);
    expect((await source.current()).tls).toBe(first);
    await directory.write("cert", "CERT 2");
    pass(60_000);
    expect((await source.current()).tls).toEqual({ ...first, cert: "CERT 2" });
  });

  it("runs a plugin again when what it gave has expired or was refused, and not before", async () => {
    await using directory = await TemporaryDirectory.of();
    const apiVersion = "client.authentication.k8s.io/v1";
    const script = `#!/bin/sh
cd "$(dirname "$0")"; echo run >> runs
cat << END
{"apiVersion":"${apiVersion}","kind":"ExecCredential",
 "status":{"token":"t-$(grep -c run runs)","expirationTimestamp":"2026-11-20T10:30:00Z"}}
END
`;
    await directory.write("login", script, 0o700);
    const exec = { apiVersion, command: directory.file("login"), args: [], env: {} };
    const { source, pass, token } = create({ exec });
    expect(await Promise.all([token(), token()])).toEqual(["Bearer t-1", "Bearer t-1"]);
    pass(29 * 60_000);
    expect(await token()).toBe("Bearer t-1");
    source.refused();
    expect(await token()).toBe("Bearer t-2");
    pass(60_000);
    expect(await token()).toBe("Bearer t-3");
  });

  it("rejects with BadConfig when a file is missing, and is fine once it is there", async () => {
    await using directory = await TemporaryDirectory.of();
    const { token } = create({ token: { file: directory.file("token") } });
    await expect(token()).rejects.toMatchObject({ code: "BadConfig", cause: { code: "ENOENT" } });
    await directory.write("token", "late");
    expect(await token()).toBe("Bearer late");
  });
});
