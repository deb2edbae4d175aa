// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { KubeObject } from "@switchyard/kube";
import { createSystemdModeReconciler } from "./systemd-mode-reconciler.ts";

function unit(name: string, phase: string) {
  const start = `ExecStart=/var/lib/sriov/sriov-network-config-daemon service --phase ${phase}`;
  return { name, enabled: true, contents: `[Unit]\nDescription=x\n\n[Service]\nType=oneshot\n${start}\n` };
}

const upstreams = [unit("sriov-config.service", "pre"), unit("sriov-config-post-network.service", "post")];

async function run(units: readonly unknown[] | undefined, isManaged = true) {
  const deleted: string[] = [];
  let told = 0;
  const config: KubeObject | undefined = units && {
    ...{ apiVersion: "machineconfiguration.openshift.io/v1", kind: "MachineConfig" },
    metadata: { name: "sriov-config-service" },
    ...{ spec: { config: { ignition: { version: "3.2.0" }, systemd: { units } } } },
  };
  const reconcile = createSystemdModeReconciler({
    machineConfigs: {
      read: () => Promise.resolve(config),
      delete({ metadata }) {
        deleted.push(metadata.name);
        return Promise.resolve();
      },
    },
    isManaged: () => isManaged,
    onRemoved: () => told++,
  });
  await reconcile("default", AbortSignal.timeout(10_000));
  return { deleted, told };
}

describe("createSystemdModeReconciler", () => {
  it("deletes upstream's MachineConfig and reports it", async () => {
    expect(await run(upstreams)).toEqual({ deleted: ["sriov-config-service"], told: 1 });
  });

  it.each([
    { where: "there is no SriovOperatorConfig", units: upstreams, isManaged: false },
    { where: "it does not exist", units: undefined },
    { where: "it has another unit", units: [...upstreams, { name: "tuned.service", contents: "" }] },
    {
      where: "a unit of the same name starts another program",
      units: [{ name: "sriov-config.service", contents: "[Service]\nExecStart=/usr/local/bin/vfs\n" }],
    },
    { where: "it has no units", units: [] },
    { where: "its units are not a list", units: ["sriov-config.service"] },
  ])("keeps the MachineConfig if $where", async ({ units, isManaged }) => {
    expect(await run(units, isManaged)).toEqual({ deleted: [], told: 0 });
  });
});
