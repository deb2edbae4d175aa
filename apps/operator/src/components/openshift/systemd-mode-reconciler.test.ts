// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { machineConfigBootUnits } from "@switchyard/api";
import type { KubeObject } from "@switchyard/kube";
import type { Manifest } from "@switchyard/render";
import { createSystemdModeReconciler } from "./systemd-mode-reconciler.ts";

function unit(name: string, phase: string) {
  const start = `ExecStart=/var/lib/sriov/sriov-network-config-daemon service --phase ${phase}`;
  return { name, enabled: true, contents: `[Unit]\nDescription=x\n\n[Service]\nType=oneshot\n${start}\n` };
}

const upstreams = [unit("sriov-config.service", "pre"), unit("sriov-config-post-network.service", "post")];

const own = machineConfigBootUnits.map(({ name, text }) => ({ name, enabled: true, contents: text }));

interface RunOptions {
  readonly isManaged?: boolean;
  readonly isSystemdMode?: boolean;
}

async function run(
  units: readonly unknown[] | undefined,
  { isManaged = true, isSystemdMode = false }: RunOptions = {},
) {
  const deleted: string[] = [];
  const written: Manifest[] = [];
  const changes: string[] = [];
  const config: KubeObject | undefined = units && {
    ...{ apiVersion: "machineconfiguration.openshift.io/v1", kind: "MachineConfig" },
    metadata: { name: "sriov-config-service" },
    ...{ spec: { config: { ignition: { version: "3.2.0" }, systemd: { units } } } },
  };
  const reconcile = createSystemdModeReconciler({
    machineConfigs: {
      read: () => Promise.resolve(config),
      apply(manifest) {
        written.push(manifest);
        return Promise.resolve();
      },
      delete({ metadata }) {
        deleted.push(metadata.name);
        return Promise.resolve();
      },
    },
    isManaged: () => isManaged,
    isSystemdMode: () => isSystemdMode,
    onChanged: (change) => changes.push(change),
  });
  await reconcile("default", AbortSignal.timeout(10_000));
  return { deleted, written, changes };
}

describe("createSystemdModeReconciler", () => {
  it("deletes upstream's MachineConfig and reports it", async () => {
    expect(await run(upstreams)).toEqual({ deleted: ["sriov-config-service"], written: [], changes: ["deleted"] });
  });

  it.each([
    { where: "there is no SriovOperatorConfig", units: upstreams, options: { isManaged: false } },
    { where: "it is current", units: own, options: { isSystemdMode: true } },
    { where: "it does not exist", units: undefined },
    { where: "it has another unit", units: [...upstreams, { name: "tuned.service", contents: "" }] },
    {
      where: "a unit of the same name starts another program",
      units: [{ name: "sriov-config.service", contents: "[Service]\nExecStart=/usr/local/bin/vfs\n" }],
    },
    { where: "it has no units", units: [] },
    { where: "its units are not a list", units: ["sriov-config.service"] },
  ])("keeps the MachineConfig if $where", async ({ units, options }) => {
    expect(await run(units, options)).toEqual({ deleted: [], written: [], changes: [] });
  });

  it("deletes its own MachineConfig in daemon mode", async () => {
    expect(await run(own)).toMatchObject({ deleted: ["sriov-config-service"], changes: ["deleted"] });
  });

  it.each([
    { over: "no MachineConfig", units: undefined },
    { over: "upstream's", units: upstreams },
    { over: "that of another release", units: own.map((each) => ({ ...each, contents: `${each.contents}\n# old\n` })) },
  ])("writes the MachineConfig with both units in systemd mode over $over", async ({ units }) => {
    const { deleted, written, changes } = await run(units, { isSystemdMode: true });
    expect([deleted, changes]).toEqual([[], ["written"]]);
    expect(written).toMatchObject([
      {
        metadata: { name: "sriov-config-service", labels: { "machineconfiguration.openshift.io/role": "worker" } },
        spec: { config: { ignition: { version: "3.2.0" }, systemd: { units: own } } },
      },
    ]);
  });

  it("reports a MachineConfig of this name with other content, and does not change it", async () => {
    const units = [...upstreams, { name: "tuned.service", contents: "" }];
    expect(await run(units, { isSystemdMode: true })).toEqual({ deleted: [], written: [], changes: ["foreign"] });
  });
});
