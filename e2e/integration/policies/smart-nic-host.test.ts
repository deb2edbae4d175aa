// SPDX-License-Identifier: Apache-2.0
/**
 * A host whose OVN moves to its SmartNIC and back, in a cluster without MachineConfigs. Labels of the Node, as
 * ovn-offload sets them, reserve VF 0, request the mode of the card, and disable Open vSwitch. The card is fake and
 * starts in separated host mode.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { labels, type SriovNetworkNodeState } from "@switchyard/api";
import { blueField, pci } from "@switchyard/host/testing";
import { managementPortName, ovnOffloadFiles } from "@switchyard/render";
import { applyPolicy, policySpec, type NodeLog, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import {
  createWorker,
  startWatchedCluster,
  type FakeWorker,
  type WatchedCluster,
} from "../../src/nodes/fake-worker.ts";

const node = "worker-1";
const pf = "0000:3b:00.0";
const withinMs = 120_000;
const limitMs = 400_000;

let watched: WatchedCluster;
let testCluster: TestCluster;
let news: NodeLog;
let worker: FakeWorker;

beforeAll(async () => {
  watched = await startWatchedCluster();
  ({ testCluster, news } = watched);
  worker = await createWorker(testCluster, node, [blueField(pf)]);
  worker.kernel.setFirmwareByHand(pci(pf), { INTERNAL_CPU_MODEL: 0 });
  worker.startDaemon();
}, 600_000);

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await watched[Symbol.asyncDispose]();
}, 60_000);

const status = () => news.states.get(node)?.status;
const card = () => status()?.interfaces?.find(({ pciAddress }) => pciAddress === pf);
const degradedReason = () => status()?.conditions?.find(({ type }) => type === "Degraded")?.reason;

/** Waits until the daemon has applied the current spec and `holds`. */
async function seen(what: string, holds: (state: SriovNetworkNodeState) => boolean): Promise<SriovNetworkNodeState> {
  return eventually(
    what,
    () => {
      const state = news.states.get(node);
      const isCurrent = state?.status?.observedGeneration === state?.metadata.generation;
      return state !== undefined && isCurrent && holds(state) ? state : undefined;
    },
    { withinMs },
  );
}

const label = (text: string) => testCluster.kubectl(["label", "node", node, text]);

/** Ends the daemon as a shutdown does, and starts it on the booted host. */
async function bootAgain(boot: "reboot" | "powerCycle"): Promise<void> {
  await worker.daemon.kill();
  worker.kernel[boot]();
  worker.startDaemon();
}

function groupsOf({ spec }: SriovNetworkNodeState): readonly string[] {
  const { vfGroups = [] } = spec?.interfaces?.find(({ pciAddress }) => pciAddress === pf) ?? {};
  return vfGroups.map(
    ({ vfRange = "", reservedFor, resourceName = "" }) => `${vfRange} ${reservedFor ?? resourceName}`,
  );
}

describe("a host of a SmartNIC without MachineConfigs", () => {
  it(
    "gets its VFs, and waits for a power cycle after the mode of the card was set",
    async () => {
      await label(`${labels.ovnOffloadPool}=dpu`);
      const spec = policySpec(
        { vendor: "15b3", deviceID: "a2d6", rootDevices: [pf] },
        { numVfs: 4, resourceName: "dpu" },
      );
      await applyPolicy(testCluster, "dpu", spec);
      const state = await seen("a power cycle is required", () => degradedReason() === "PowerCycleRequired");
      expect([...groupsOf(state)].sort()).toEqual(["0-0 ovn-management-port", "1-3 dpu"]);
      expect(card()).toMatchObject({
        numVfs: 4,
        cardMode: { current: "separated-host", next: "embedded-cpu", powerCycleRequired: true },
      });
      expect(worker.kernel.requestedReboots).toEqual([]);

      await bootAgain("powerCycle");
      await seen("the mode is right", () => degradedReason() === "Configured" && card()?.numVfs === 4);
      expect(card()?.cardMode).toEqual({ current: "embedded-cpu", next: "embedded-cpu" });
    },
    limitMs,
  );

  it(
    "reboots once to disable Open vSwitch, and VF 0 gets its permanent name",
    async () => {
      await label(`${labels.ovnOffloadFiles}=daemon`);
      await eventually("a reboot", () => worker.kernel.requestedReboots.length === 1, { withinMs });
      expect(worker.kernel.requestedReboots).toEqual(["Switchyard reboots this node for Open vSwitch disabled"]);
      await bootAgain("reboot");
      await seen(
        "Open vSwitch is disabled",
        () => status()?.system?.openVSwitchDisabled === true && card()?.numVfs === 4,
      );
      await seen("VF 0 is named", () => card()?.Vfs?.[0]?.name === managementPortName);
      expect(
        card()
          ?.Vfs?.slice(1)
          .map(({ name }) => name),
      ).toEqual(["enp59s0f0v1", "enp59s0f0v2", "enp59s0f0v3"]);
      await seen("nothing is left to do", () => degradedReason() === "Configured");
      expect(worker.kernel.requestedReboots).toHaveLength(1);
    },
    limitMs,
  );

  it(
    "reboots once to enable Open vSwitch again, and nothing of Switchyard's files is left",
    async () => {
      await label(`${labels.ovnOffloadFiles}-`);
      await eventually("a reboot", () => worker.kernel.requestedReboots.length === 2, { withinMs });
      await bootAgain("reboot");
      await seen("Open vSwitch is enabled", () => status()?.system?.openVSwitchDisabled === undefined);
      const paths = ovnOffloadFiles().map(({ path }) => path);
      const left = worker.kernel.listFiles().filter((path) => paths.includes(path) || path.includes("systemd"));
      expect(left).toEqual([]);
      await label(`${labels.ovnOffloadPool}-`);
      const state = await seen("VF 0 is a VF like others", (each) => groupsOf(each).length === 1);
      expect(groupsOf(state)).toEqual(["0-3 dpu"]);
      await seen("nothing is left to do", () => degradedReason() === "Configured" && card()?.numVfs === 4);
      expect([card()?.Vfs?.[0]?.name, worker.kernel.requestedReboots.length]).toEqual(["enp59s0f0v0", 2]);
    },
    limitMs,
  );
});
