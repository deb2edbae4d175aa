// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { upstreamDeviceDirectory } from "@switchyard/api";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UnreadableRecord } from "../records/record-directory.ts";
import { recordUpstreamDevices, upstreamDeviceRecords, type GivenDevice } from "./upstream-device-record.ts";

const device = "0000:86:00.0";
const given: GivenDevice = { device, name: "ens1", poolName: "fast", programBefore: 7 };
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "switchyard-upstream-"));
});
afterEach(() => rm(root, { recursive: true }));

const list = async () => [...(await upstreamDeviceRecords(root).list()).values()];

describe("recordUpstreamDevices", () => {
  it("writes nothing without devices", async () => {
    await recordUpstreamDevices(root, [], "a");
    expect([await readdir(root), await list()]).toEqual([[], []]);
  });

  it("adds names and pools, and keeps the program that the device had first in a boot", async () => {
    await recordUpstreamDevices(root, [given], "a");
    await recordUpstreamDevices(root, [{ ...given, name: "nic1", poolName: "slow", programBefore: 8 }], "a");
    const record = { device, bootId: "a", programBefore: 7, names: ["nic1", "ens1"], pools: ["slow", "fast"] };
    expect(await list()).toEqual([record]);
    await recordUpstreamDevices(root, [{ device, name: "nic1", poolName: "slow" }], "b");
    const { programBefore: _gone, ...later } = { ...record, bootId: "b" };
    expect(await list()).toEqual([later]);
  });

  it("does not grow without end", async () => {
    for (let at = 0; at < 20; at++) await recordUpstreamDevices(root, [{ ...given, name: `ens${at}` }], "a");
    const [record] = await list();
    expect([record?.names.length, record?.names[0]]).toEqual([16, "ens19"]);
  });

  it.each([
    { what: "a device that would be a path", bad: { ...given, device: "../../etc/passwd" } },
    { what: "a name that no interface can have", bad: { ...given, name: "a/b" } },
    { what: "a pool that the plugin would refuse", bad: { ...given, poolName: "../fast" } },
  ])("does not record $what, and records the others", async ({ bad }) => {
    await recordUpstreamDevices(root, [bad, { ...given, device: "ens7" }], "a");
    expect((await list()).map((record) => record.device)).toEqual(["ens7"]);
  });
});

describe("upstreamDeviceRecords", () => {
  it.each([
    { what: "no JSON", text: "{" },
    { what: "a list", text: "[]" },
    { what: "the record of another device", text: textOf({ device: "ens1" }) },
    { what: "a pool that is a path", text: textOf({ pools: [".."] }) },
    { what: "a name that is no text", text: textOf({ names: [7] }) },
    { what: "a program that is no number", text: textOf({ programBefore: "7" }) },
    { what: "no boot", text: textOf({ bootId: undefined }) },
  ])("leaves out $what, and says so", async ({ text }) => {
    await mkdir(join(root, upstreamDeviceDirectory), { recursive: true });
    await writeFile(join(root, upstreamDeviceDirectory, device), text);
    const unreadable: UnreadableRecord[] = [];
    expect((await upstreamDeviceRecords(root, (file) => unreadable.push(file)).list()).size).toBe(0);
    expect(unreadable.map(({ path }) => path)).toEqual([join(root, upstreamDeviceDirectory, device)]);
  });
});

function textOf(change: object): string {
  return JSON.stringify({ device, bootId: "a", names: ["ens1"], pools: ["fast"], ...change });
}
