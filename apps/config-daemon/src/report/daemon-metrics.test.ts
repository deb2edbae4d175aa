// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { Registry } from "@switchyard/service";
import { createDaemonMetrics } from "./daemon-metrics.ts";

function setUp() {
  const registry = new Registry();
  const metrics = createDaemonMetrics(registry, {
    nodeName: "worker-1",
    now: () => new Date(1_700_000_000_000),
    oldestMs: () => 90_000,
  });
  /** Returns the lines of one metric that are not 0, without the common label. */
  async function lines(name: string): Promise<readonly string[]> {
    const page = await registry.metrics();
    return page
      .split("\n")
      .filter((line) => line.startsWith(name) && !line.endsWith(" 0"))
      .map((line) => line.slice(name.length).replace(/,?node="worker-1"/, ""));
  }
  return { metrics, lines, registry };
}

describe("the daemon's metrics", () => {
  it("have all series from the start, with the name of the node", async () => {
    const { registry } = setUp();
    const page = await registry.metrics();
    expect(page).toContain('switchyard_steps_total{kind="set-num-vfs",outcome="failed",node="worker-1"} 0');
    expect(page).toContain('switchyard_node_sync_status{sync_status="Failed",node="worker-1"} 0');
  });

  it("have as many series for a node with 256 VFs as for one without, at most 150", async () => {
    const { metrics, registry } = setUp();
    const names = async () =>
      (await registry.metrics())
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line) => line.slice(0, line.lastIndexOf(" ")));
    metrics.planned({}, [], []);
    const before = await names();
    const pfs = ["0000:3b:00.0", "0000:5e:00.0"];
    const found = pfs.map((pciAddress) => {
      const Vfs = Array.from({ length: 128 }, (_, vfID) => ({
        vfID,
        pciAddress: `${pciAddress}-${vfID}`,
        driver: "iavf",
      }));
      return { pciAddress, vendor: "8086", deviceID: "158b", name: "ens1f0", totalvfs: 128, numVfs: 128, Vfs };
    });
    const vfGroups = [{ policyName: "fast", resourceName: "fast", vfRange: "0-127" }];
    const interfaces = pfs.map((pciAddress) => ({ pciAddress, numVfs: 128, vfGroups }));
    metrics.planned({ interfaces }, found, []);
    for (const pciAddress of pfs) metrics.stepEnded({ kind: "set-link-up", pciAddress }, true);
    expect(await names()).toEqual(before);
    expect(before.length).toBeLessThanOrEqual(150);
  });

  it("count steps by kind and outcome", async () => {
    const { metrics, lines } = setUp();
    const step = { kind: "set-link-up", pciAddress: "0000:01:00.0" } as const;
    metrics.stepEnded(step, false);
    metrics.stepEnded(step, true);
    metrics.stepEnded(step, true);
    expect(await lines("switchyard_steps_total")).toEqual([
      '{kind="set-link-up",outcome="done"} 1',
      '{kind="set-link-up",outcome="failed"} 2',
    ]);
  });

  it("measure the duration of each plan and the time of the last success", async () => {
    const { metrics, lines } = setUp();
    metrics.applied({ durationMs: 3_000, isDone: false });
    expect(await lines("switchyard_last_apply")).toEqual([]);
    metrics.applied({ durationMs: 300, isDone: true });
    expect(await lines("switchyard_apply_seconds_sum")).toEqual(["{} 3.3"]);
    expect(await lines("switchyard_last_apply_timestamp_seconds")).toEqual(["{} 1700000000"]);
  });

  it("show one sync status at a time, and the wait for a drain", async () => {
    const { metrics, lines } = setUp();
    metrics.reported({ kind: "waiting-for-drain", reasons: [] });
    expect(await lines("switchyard_node_sync_status")).toEqual(['{sync_status="InProgress"} 1']);
    expect(await lines("switchyard_waiting_for_drain")).toEqual(["{} 1"]);
    metrics.reported({ kind: "failed", failures: [], problems: [] });
    expect(await lines("switchyard_node_sync_status")).toEqual(['{sync_status="Failed"} 1']);
    expect(await lines("switchyard_waiting_for_drain")).toEqual([]);
  });

  it("show the number of configured VFs", async () => {
    const { metrics, lines } = setUp();
    const pciAddress = "0000:01:00.0";
    const Vfs = [{ vfID: 0, pciAddress: "0000:01:10.0" }];
    metrics.planned({ interfaces: [{ pciAddress, numVfs: 2 }] }, [{ pciAddress, Vfs }], []);
    expect(await lines("switchyard_node_vfs")).toEqual([
      '{state="wanted"} 2',
      '{state="existing"} 1',
      '{state="configured"} 1',
    ]);
  });
});
