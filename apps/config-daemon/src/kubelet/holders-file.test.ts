// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { ok } from "@switchyard/api";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { holdersFromFile } from "./holders-file.ts";

const never = new AbortController().signal;
const entry = { device: "0000:01:10.2", namespace: "default", name: "app-0", resource: "openshift.io/lab" };
const { device: _device, ...holder } = entry;
let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-holders-file-"));
  path = join(directory, "holders.json");
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

describe("holdersFromFile", () => {
  it("reads the holders of VFs, each time again", async () => {
    const kubelet = holdersFromFile(path);
    await writeFile(path, JSON.stringify({ holders: [entry, { ...entry, name: "app-1" }] }));
    const held = await kubelet.readHolders(never);
    const both = ["app-0", "app-1"].map((name) => ({ ...holder, name, via: "device-plugin" }));
    expect(held).toEqual(ok({ byId: new Map([[entry.device, both]]), isNewKubelet: false }));
    await writeFile(path, JSON.stringify({ holders: [{ ...entry, uid: "one" }] }));
    const withUid = new Map([[entry.device, [{ ...holder, uid: "one", via: "device-plugin" }]]]);
    expect(await kubelet.readHolders(never)).toEqual(ok({ byId: withUid, isNewKubelet: false }));
    await writeFile(path, '{"holders":[]}');
    expect(await kubelet.readHolders(never)).toEqual(ok({ byId: new Map(), isNewKubelet: false }));
    expect(await kubelet.readOffered(never)).toEqual(ok(new Set()));
    expect((await kubelet.readAfxdp(never)).ok).toBe(false);
  });

  it.each([
    { what: "no file", text: undefined, error: "cannot be read: ENOENT" },
    { what: "half a file", text: '{"holders":[', error: 'has no list "holders"' },
    { what: "another object", text: '{"pods":[]}', error: 'has no list "holders"' },
    { what: "null", text: "null", error: 'has no list "holders"' },
    {
      what: "an entry without a device",
      text: JSON.stringify({ holders: [{ ...entry, device: "../x" }] }),
      error: "holders[0] has no device, namespace, name and resource",
    },
    { what: "too many bytes", text: " ".repeat(1_048_577), error: "has 1048577 bytes, and at most 1048576 are read" },
    {
      what: "too many holders",
      text: JSON.stringify({ holders: Array(4_097).fill(0) }),
      error: "has 4097 holders, and at most 4096 are read",
    },
  ])("does not know the holders with $what", async ({ text, error }) => {
    if (text !== undefined) await writeFile(path, text);
    expect(await holdersFromFile(path).readHolders(never)).toEqual({
      ok: false,
      error: expect.stringContaining(error),
    });
  });
});
