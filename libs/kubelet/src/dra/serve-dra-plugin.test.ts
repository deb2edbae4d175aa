// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDraKubelet } from "../testing/fake-dra-kubelet.ts";
import type { RegistrationStatus } from "./registration-messages.ts";
import { serveDraPlugin, type DraPluginOptions } from "./serve-dra-plugin.ts";

const driver = "nics.example.com";
const claim = { namespace: "default", uid: "u1", name: "nic" };
const healthy = {
  pool: "worker-1",
  device: "0000-3b-00-2",
  health: "healthy",
  atSeconds: 1,
  timeoutSeconds: 120,
  message: "",
} as const;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-dra-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

function served(options: Partial<DraPluginOptions> = {}) {
  return serveDraPlugin({
    driver,
    kubeletDirectory: directory,
    kubeletDirectoryOnHost: directory,
    prepare: (claims) => Promise.resolve(new Map(claims.map(({ uid }) => [uid, { devices: [] }]))),
    unprepare: (claims) => Promise.resolve(new Map(claims.map(({ uid }) => [uid, undefined]))),
    registered: () => undefined,
    ...options,
  });
}

describe("serveDraPlugin", () => {
  it("registers the services that the kubelet looks for, and learns its answer", async () => {
    const statuses: RegistrationStatus[] = [];
    await using _plugin = await served({ registered: (status) => statuses.push(status) });
    using kubelet = createDraKubelet(directory);
    expect(await kubelet.register(driver, "driver name is in use")).toEqual({
      type: "DRAPlugin",
      name: driver,
      endpoint: join(directory, "plugins", driver, "dra.sock"),
      supportedVersions: ["v1.DRAPlugin", "v1alpha1.DRAResourceHealth"],
    });
    await kubelet.register(driver);
    expect(statuses).toEqual([
      { isRegistered: false, error: "driver name is in use" },
      { isRegistered: true, error: "" },
    ]);
  });

  it("answers for each claim of a call on its own", async () => {
    const other = { namespace: "default", uid: "u2", name: "other" };
    const device = { requests: ["nic"], pool: "worker-1", device: "0000-3b-00-2", cdiDevices: ["example.com/vf=a"] };
    await using _plugin = await served({
      prepare: (claims) =>
        Promise.resolve(
          new Map(claims.map(({ uid }) => [uid, uid === "u1" ? { devices: [device] } : { error: "no" }])),
        ),
      unprepare: (claims) =>
        Promise.resolve(new Map(claims.map(({ uid }) => [uid, uid === "u1" ? undefined : "busy"]))),
    });
    using kubelet = createDraKubelet(directory);
    await kubelet.register(driver);
    expect(Object.fromEntries(await kubelet.prepare([claim, other]))).toEqual({
      u1: { devices: [device] },
      u2: { error: "no" },
    });
    expect([...(await kubelet.unprepare([claim, other]))]).toEqual([
      ["u1", undefined],
      ["u2", "busy"],
    ]);
  });

  it("fails a call whose error concerns no single claim, in its words", async () => {
    await using _plugin = await served({ prepare: () => Promise.reject(new Error("the disk is full")) });
    using kubelet = createDraKubelet(directory);
    await kubelet.register(driver);
    await expect(kubelet.prepare([claim])).rejects.toMatchObject({ details: "the disk is full" });
  });

  it("sends the health of all devices at the begin of a stream and at each change", async () => {
    await using plugin = await served();
    plugin.setHealth([healthy]);
    using kubelet = createDraKubelet(directory);
    await kubelet.register(driver);
    expect(await kubelet.untilHealth((devices) => devices.length === 1)).toEqual([healthy]);
    const ill = { ...healthy, health: "unhealthy", message: "PF ens1f0 has no carrier" } as const;
    plugin.setHealth([ill]);
    expect(await kubelet.untilHealth(([first]) => first?.health === "unhealthy")).toEqual([ill]);
  });

  it("can be called while a process that was deleted by force ends after its successor has started", async () => {
    const old = await served();
    await using _second = await served();
    await old[Symbol.asyncDispose]();
    using kubelet = createDraKubelet(directory);
    await kubelet.register(driver);
    expect((await kubelet.prepare([claim])).size).toBe(1);
    expect(await readdir(join(directory, "plugins", driver))).toEqual(["dra.sock"]);
  });

  it("leaves no socket behind, and replaces those of a process that was killed", async () => {
    const killed = await served();
    await using _second = await served();
    using kubelet = createDraKubelet(directory);
    await kubelet.register(driver);
    expect((await kubelet.prepare([claim])).size).toBe(1);
    await killed[Symbol.asyncDispose]();
    await _second[Symbol.asyncDispose]();
    expect(await readdir(join(directory, "plugins_registry"))).toEqual([]);
  });
});
