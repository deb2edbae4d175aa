// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the systemd mode of AF_XDP devices with a real systemd and a real reboot. Subfunctions exist, with the same
 * addresses, when a stand-in for the kubelet starts, while no daemon runs and nothing reaches the API server. Without a
 * policy, the file is gone.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { listSubfunctions, macsOf, pciDevice, startAfxdpNode, type AfxdpNode } from "../src/nodes/afxdp-node.ts";
import { kubeletStandIn } from "../src/nodes/watched-node.ts";

/** A boot with systemd takes twenty seconds, and several times as long on a loaded machine. */
const withinMs = 300_000;
const units = ["sriov-config.service", "sriov-config-post-network.service"];
const files = "/etc/sriov-operator/afxdp-interface-*";
const systemdMode = ["--use-systemd-service=true"];

let watched: AfxdpNode;

beforeAll(async () => {
  watched = await startAfxdpNode({ boot: "systemd" }, { commandLimitMs: withinMs });
  await inGuest(
    kubeletStandIn(
      [listSubfunctions, `devlink dev eswitch show ${pciDevice} | grep -o 'mode [a-z]*' | head -1`].join("\n"),
    ),
  );
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);

describe("AF_XDP devices of a node in systemd mode", () => {
  it(
    "are configured by a boot before the kubelet starts, without the daemon and the API server",
    async () => {
      const daemon = watched.startDaemon(systemdMode);
      await watched.setPolicy({ numSfs: 2, mtu: 1400 });
      await watched.policyIsReady();
      const before = await watched.subfunctions();
      expect(before.map((one) => one.split(" ").slice(0, 2))).toEqual([
        ["0", "1400"],
        ["1", "1400"],
      ]);
      const enabled = async () => await inGuest(`systemctl is-enabled ${units.join(" ")} 2>&1`);
      await eventually("the units are enabled", async () => (await enabled()) === "enabled\nenabled", { withinMs });
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);

      await watched.node.guest.reboot();
      const log = await inGuest(`cat ${files}; journalctl -b -o cat -u ${units.join(" -u ")}`);
      expect(log).toContain('syncStatus: "Succeeded"');
      const [first = "", second = "", mode] = (await inGuest("cat /run/kubelet-found")).split("\n");
      expect([first, second].map((one) => one.split(" ").slice(0, 2))).toEqual([
        ["0", "1400"],
        ["1", "1400"],
      ]);
      expect(macsOf([first, second])).toEqual(macsOf(before));
      expect(mode).toBe("mode switchdev");

      const next = watched.startDaemon(systemdMode);
      await watched.reports("afxdpnetworknodestate/vm", { syncStatus: "Succeeded", lastSyncError: "" });
      expect(macsOf(await watched.subfunctions())).toEqual(macsOf(before));
      await watched.testCluster.kubectl(["delete", "afxdpnetworknodepolicies", "--all"]);
      const left = async () => await inGuest(`ls ${files} 2>/dev/null | wc -l`);
      await eventually("the files are gone", async () => (await left()) === "0", { withinMs });
      next.kill("SIGTERM");
      expect(await next.exitCode).toBe(0);
    },
    4 * withinMs,
  );
});
