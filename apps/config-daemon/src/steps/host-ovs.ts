// SPDX-License-Identifier: Apache-2.0
/** Runs the steps that change the Open vSwitch service of the host. */
import { HostError, type Host } from "@switchyard/host";
import type { NodeStep } from "@switchyard/plan";
import {
  enabledUnits,
  hostOvsFiles,
  hostOvsRecord,
  readHostOvsRecord,
  readOffloadMark,
  readPresentFiles,
  rememberBooted,
  unknownProcess,
  writeHostOvsRecord,
} from "../files/host-ovs-files.ts";

/**
 * Writes or removes the files that disable Open vSwitch on the host. Services that run are left alone until the node
 * reboots. A step that is killed is completed by the next one.
 */
async function setHostOvs({ to }: Pick<NodeStep<"set-host-ovs">, "to">, host: Host): Promise<void> {
  await (to === "disabled" ? writeFiles(host) : removeFiles(host));
}

async function writeFiles({ files, systemd, udev }: Host): Promise<void> {
  const wanted = hostOvsFiles();
  const former = await readHostOvsRecord(files);
  const { stateOf, own } = await readPresentFiles(files, former);
  const foreign = wanted.find((file) => stateOf(file) === "foreign");
  if (foreign !== undefined) {
    const words = "it has content that Switchyard did not write";
    throw new HostError({ action: "write", target: foreign.path }, "EEXIST", { words });
  }
  await rememberBooted(files);
  const paths = wanted.map(({ path }) => path);
  const units = enabledUnits();
  const all = {
    paths: [...new Set([...paths, ...(former?.paths ?? [])])],
    units: [...new Set([...units, ...(former?.units ?? [])])],
  };
  await writeHostOvsRecord(files, { ...all, complete: false });
  const gone = all.units.filter((unit) => !units.includes(unit));
  if (gone.length > 0) await systemd.disableUnits(gone);
  for (const file of wanted) {
    const { path, text, executable } = file;
    const state = stateOf(file);
    if (state !== "current" && state !== "equal") await files.writeText(path, text, { executable });
  }
  for (const path of own) if (!paths.includes(path)) await files.remove(path);
  await systemd.reload();
  if (units.length > 0) await systemd.enableUnits(units);
  await udev.reloadRules();
  await writeHostOvsRecord(files, { paths, units, complete: true });
}

async function removeFiles({ files, systemd, udev }: Host): Promise<void> {
  await rememberBooted(files);
  const record = await readHostOvsRecord(files);
  const units = new Set([...(record?.units ?? []), ...enabledUnits()]);
  const { own } = await readPresentFiles(files, record);
  const ownUnits = [...units].filter((unit) => own.includes(`/etc/systemd/system/${unit}`));
  if (ownUnits.length > 0) await systemd.disableUnits(ownUnits);
  for (const path of own) await files.remove(path);
  await systemd.reload();
  await udev.reloadRules();
  await files.remove(hostOvsRecord);
}

const unit = "ovs-vswitchd.service";

/**
 * Configures hardware offload in Open vSwitch and restarts ovs-vswitchd, which reads it once. The unit has the same name in
 * Debian, Ubuntu, RHEL and Fedora.
 */
async function setOvsOffload(_step: unknown, host: Host): Promise<void> {
  await host.ovs.setHardwareOffload((await readOffloadMark(host)) ?? unknownProcess);
}

async function restartOvs(_step: unknown, { systemd }: Host): Promise<void> {
  await systemd.restartUnit(unit);
}

/** Runs the steps of this subject, by the names of their kinds. */
export const runHostOvsSteps = {
  "restart-ovs": restartOvs,
  "set-host-ovs": setHostOvs,
  "set-ovs-offload": setOvsOffload,
};
