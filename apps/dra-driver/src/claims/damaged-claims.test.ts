// SPDX-License-Identifier: Apache-2.0
/**
 * The file of a prepared claim is the only record that the driver keeps. It is damaged in each way that a full disk, a power loss, another
 * program or a later release can cause. No VF of a running pod is given to another claim, and the pod ends as usual.
 */
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { cdiDirectory, claimSpecFile } from "@switchyard/render";
import { createLogger } from "@switchyard/service";
import { PassThrough } from "node:stream";
import { text as readAll } from "node:stream/consumers";
import { createClaimsWorld } from "../testing/claims-world.ts";

const contents = [
  { how: "is empty", text: "" },
  { how: "is truncated", text: '{"cdiVersion":"0.6.0","kind":"k8s.io/vf","annotations":{"names' },
  { how: "has zeros, as after a power loss", text: "\0".repeat(64) },
  { how: "is of a later release", text: '{"cdiVersion":"9.0.0","annotations":{"version":"9"},"devices":{"vf":{}}}' },
  { how: "is a list", text: "[[], {}, null, 1]" },
  { how: "is of another program", text: "# managed by ansible\n" },
];

describe.each([
  { clock: "in 1970", wrong: new Date(90_000) },
  { clock: "years ahead", wrong: new Date("2040-01-01T00:00:00Z") },
])("a claim that was prepared while the clock was $clock", ({ wrong }) => {
  const setClock = (now: Date) =>
    jest.useFakeTimers({
      now,
      doNotFake: [
        "hrtime",
        "nextTick",
        "performance",
        "queueMicrotask",
        "setImmediate",
        "clearImmediate",
        "setInterval",
        "clearInterval",
        "setTimeout",
        "clearTimeout",
      ],
    });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("keeps its VF after the clock is set, and ends as usual", async () => {
    const world = await createClaimsWorld();
    const claim = world.allocate("vm", [0], { driver: "vfio-pci" });
    setClock(wrong);
    const first = world.start();
    await first.prepare(claim);
    const files = world.files();
    setClock(new Date("2026-11-28T12:00:00Z"));
    for (const driver of [first, world.start()]) {
      await driver.records();
      await expect(driver.prepare(world.allocate("other", [0]))).rejects.toThrow("is prepared for claim");
      expect(await driver.prepare(claim)).toHaveLength(1);
      expect(world.files()).toEqual(files);
    }
    await first.unprepare(claim);
    expect((await world.drivers())[0]).toBe("igbvf");
  });
});

describe("the file of a claim", () => {
  it.each(contents)("that $how costs its pod nothing, and others get no VF of it", async ({ text }) => {
    const world = await createClaimsWorld();
    const claim = world.allocate("vm", [0], { driver: "vfio-pci" });
    await world.start().prepare(claim);
    const file = `${cdiDirectory}/${claimSpecFile(claim.uid) ?? ""}`;
    const complete = await world.kernel.host().files.readText(file);
    await world.kernel.host().files.writeText(file, text);

    const stream = new PassThrough();
    const { log } = createLogger({ service: "dra-driver", level: "info", stream });
    const restarted = world.start({ log });
    expect(await restarted.records()).toEqual([]);
    await restarted.records();
    await expect(restarted.prepare(world.allocate("other", [0]))).rejects.toThrow(`${file} is not readable`);
    expect(await restarted.prepare(world.allocate("free", [1]))).toHaveLength(1);
    expect(await world.drivers()).toEqual(["vfio-pci", "igbvf", "igbvf", "igbvf"]);

    // The kubelet repeats the call after its own restart.
    expect(await restarted.prepare(claim)).toHaveLength(1);
    expect(await world.kernel.host().files.readText(file)).toBe(complete);

    await world.kernel.host().files.writeText(file, text);
    await restarted.unprepare(claim);
    expect((await world.drivers())[0]).toBe("igbvf");
    expect(world.files().filter((path) => path.includes(claim.uid) || path.includes(world.vfs[0] ?? ""))).toEqual([]);
    stream.end();
    expect((await readAll(stream)).match(/its VFs are given to no other claim/g)).toHaveLength(1);
  });

  it("that cannot be written because the disk is full fails the preparation, and a later one succeeds", async () => {
    const world = await createClaimsWorld();
    const claims = world.start();
    const claim = world.allocate("nic", [1]);
    const full = world.kernel.fault({ port: "files", method: "writeText" }, { code: "ENOSPC" });
    await expect(claims.prepare(claim)).rejects.toThrow("ENOSPC");
    expect(world.files()).toEqual([]);
    full.lift();
    expect(await claims.prepare(claim)).toHaveLength(1);
  });

  it("that the driver may not read counts as damaged", async () => {
    const world = await createClaimsWorld();
    const claim = world.allocate("nic", [1]);
    await world.start().prepare(claim);
    const restarted = world.start();
    const denied = world.kernel.fault({ port: "files", method: "readText" }, { code: "EACCES" });
    expect(await restarted.records()).toEqual([]);
    denied.lift();
    expect(await restarted.records()).toMatchObject([{ uid: claim.uid }]);
  });
});
