// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { keepFresh, type Credentials } from "./credentials.ts";
import { readServiceAccount } from "../connect/in-cluster.ts";
import { KubeError } from "./kube-error.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";

/** Returns a source of the credentials of `load`, with a clock that the test controls. */
function create(load: (refused: boolean) => Promise<Credentials>) {
  let nowMs = 0;
  const source = keepFresh(load, { nowMs: () => nowMs });
  return {
    source,
    pass: (ms: number) => (nowMs += ms),
    token: async () => (await source.current()).headers["authorization"],
  };
}

describe("keepFresh", () => {
  it("loads a token again every minute", async () => {
    await using directory = await TemporaryDirectory.of({ token: "one\n", "ca.crt": "CA" });
    const { pass, token } = create(() => readServiceAccount(directory.path));
    expect(await token()).toBe("Bearer one");
    await directory.write("token", "two\n");
    pass(59_999);
    expect(await token()).toBe("Bearer one");
    pass(1);
    expect(await token()).toBe("Bearer two");
  });

  it("loads at once after the server has rejected the credentials", async () => {
    const calls: boolean[] = [];
    const { source, token } = create((refused) => {
      calls.push(refused);
      return Promise.resolve({ headers: { authorization: `Bearer ${calls.length}` }, tls: {} });
    });
    await token();
    source.refused();
    expect(await token()).toBe("Bearer 2");
    expect(await token()).toBe("Bearer 2");
    expect(calls).toEqual([false, true]);
  });

  it("returns the same TLS identity until its content changes", async () => {
    let tls = { ca: "CA", cert: "CERT 1", key: "KEY 1" };
    const { source, pass } = create(() => Promise.resolve({ headers: {}, tls: { ...tls } }));
    const first = (await source.current()).tls;
    expect(first).toEqual(tls);
    pass(60_000);
    expect((await source.current()).tls).toBe(first);
    tls = { ...tls, cert: "CERT 2" };
    pass(60_000);
    expect((await source.current()).tls).toEqual(tls);
  });

  it("loads once for concurrent callers", async () => {
    let loads = 0;
    const { token } = create(() => Promise.resolve({ headers: { authorization: `Bearer ${++loads}` }, tls: {} }));
    expect(await Promise.all([token(), token()])).toEqual(["Bearer 1", "Bearer 1"]);
  });

  it("rejects while the credentials cannot be loaded", async () => {
    await using directory = await TemporaryDirectory.of({ "ca.crt": "CA" });
    const { token } = create(() => readServiceAccount(directory.path));
    await expect(token()).rejects.toMatchObject({ code: "BadConfig", cause: { code: "ENOENT" } });
    await directory.write("token", "late");
    expect(await token()).toBe("Bearer late");
  });

  it("remembers the rejection by the server after a failed load", async () => {
    const calls: boolean[] = [];
    const { source } = create((refused) => {
      calls.push(refused);
      return calls.length === 2
        ? Promise.reject(new KubeError("load", "BadConfig"))
        : Promise.resolve({ headers: {}, tls: {} });
    });
    await source.current();
    source.refused();
    await expect(source.current()).rejects.toMatchObject({ code: "BadConfig" });
    await source.current();
    expect(calls).toEqual([false, true, true]);
  });
});
