// SPDX-License-Identifier: Apache-2.0
/**
 * Checks each MachineConfig that Switchyard writes with Ignition's own validator, in the current release and in Debian's, because
 * the schema of MachineConfig accepts broken configurations. A warning counts as a failure.
 */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { goPrograms } from "@switchyard/go-programs";
import { ovnOffloadMachineConfig, systemdModeMachineConfig } from "@switchyard/render";
import { mergeMachineConfigs } from "@switchyard/test-cluster";
import { runProgram } from "@switchyard/testing";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debianIgnition } from "../src/debian-ignition.ts";

const releases = ["the current release", "Debian's release"] as const;
const validators = new Map<string, string>();

beforeAll(async () => {
  validators.set(releases[0], join(await goPrograms("ignition"), "validate"));
  validators.set(releases[1], (await debianIgnition()).validate);
}, 900_000);

/** Returns what the validator says. It says nothing about a configuration without errors and warnings. */
async function complaints(release: string, config: unknown): Promise<string> {
  const validator = validators.get(release);
  if (validator === undefined) throw new Error(`no validator of ${release}`);
  const directory = await mkdtemp(join(tmpdir(), "switchyard-ignition-"));
  try {
    await writeFile(join(directory, "config.ign"), JSON.stringify(config));
    const { stdout, stderr } = await runProgram(validator, [join(directory, "config.ign")]);
    return stdout + stderr;
  } finally {
    await rm(directory, { recursive: true });
  }
}

const offload = ovnOffloadMachineConfig({ name: "dpu-host", role: "dpu-host" });
const { config } = offload.spec;
const worker = {
  metadata: { name: "00-worker", labels: { "machineconfiguration.openshift.io/role": "worker" } },
  spec: {
    config: {
      ignition: { version: "3.2.0" },
      systemd: { units: [{ name: "openvswitch.service", enabled: true }] },
    },
  },
};

/** Debian's release does not know the version that the merge results in. */
const merged = { ...mergeMachineConfigs([offload, worker]).config, ignition: config.ignition };

describe.each(releases)("Ignition's validator, %s", (release) => {
  it.each([
    { of: "OVN offload", ignition: config },
    { of: "the systemd mode", ignition: (systemdModeMachineConfig().spec as { readonly config: unknown }).config },
    { of: "OVN offload merged over a base", ignition: merged },
  ])("accepts the MachineConfig of $of without a warning", async ({ ignition }) => {
    expect(await complaints(release, ignition)).toBe("");
  });

  const [file] = config.storage.files;
  const [unit] = config.systemd.units;
  it.each([
    {
      flaw: "an octal mode",
      ignition: { ...config, storage: { files: [{ ...file, mode: 4755 }] } },
      says: /setuid\/setgid\/sticky bits are not supported/,
    },
    {
      flaw: "a unit without an extension",
      ignition: { ...config, systemd: { units: [{ ...unit, name: "openvswitch" }] } },
      says: /invalid systemd unit extension/,
    },
    {
      flaw: "a drop-in without an extension",
      ignition: { ...config, systemd: { units: [{ ...unit, dropins: [{ name: "offload", contents: "" }] }] } },
      says: /invalid systemd drop-in extension/,
    },
    {
      flaw: "a unit twice",
      ignition: { ...config, systemd: { units: [unit, unit] } },
      says: /duplicate entry defined/,
    },
    {
      flaw: "a key of another version",
      ignition: { ...config, systemd: { units: [{ ...unit, enable: true }] } },
      says: /unused key enable/i,
    },
    {
      flaw: "an enabled unit that cannot be enabled",
      ignition: { ...config, systemd: { units: [{ name: "a.service", enabled: true, contents: "[Unit]\n" }] } },
      says: /has no install section/,
    },
  ])("refuses $flaw", async ({ ignition, says }) => {
    expect(await complaints(release, ignition)).toMatch(says);
  });
});
