// SPDX-License-Identifier: Apache-2.0
/**
 * readSystem reads the settings of the whole node for the status: RDMA mode, kernel arguments, and the last reboot. It runs no
 * program: which arguments the boot loader has is known from the daemon's own record.
 */
import { defined, type KernelStatus, type RebootStatus, type SystemStatus } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { readHostOvsFiles } from "../files/host-ovs-files.ts";
import { readInitialRdmaMode, readPersistentRdmaMode, readRefusedRdmaMode } from "../files/rdma-mode-file.ts";
import { readKernelArgumentsRecord, readRebootRecord } from "../files/boot-records.ts";

/** Rejects with HostError. */
export async function readSystem(host: Host, bootId: string): Promise<SystemStatus> {
  const [rdmaMode, persistentRdmaMode, initialRdmaMode, refusedRdmaMode, kernel, reboot, hostOvs] = await Promise.all([
    host.rdma.readMode(),
    readPersistentRdmaMode(host.files),
    readInitialRdmaMode(host.files),
    readRefusedRdmaMode(host.files),
    readKernel(host, bootId),
    readReboot(host, bootId),
    readHostOvs(host),
  ]);
  return {
    ...defined({ rdmaMode, persistentRdmaMode, initialRdmaMode, refusedRdmaMode }),
    ...(rdmaMode !== undefined && (await hasNetworkNamespaces(host)) && { hasNetworkNamespaces: true }),
    ...hostOvs,
    kernel,
    ...defined({ reboot }),
  };
}

/** Container runtimes and `ip netns` bind the namespaces there. What others keep elsewhere is found when the kernel refuses. */
async function hasNetworkNamespaces({ files }: Host): Promise<boolean> {
  try {
    return (await files.listNames("/run/netns")).length > 0;
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    return false;
  }
}

/** The fields are absent on a host that has nothing to do with them. */
async function readHostOvs({ files }: Host): Promise<Pick<SystemStatus, "openVSwitchDisabled" | "openVSwitchFiles">> {
  const { own, complete, foreign, isDisabled } = await readHostOvsFiles(files);
  return {
    ...(isDisabled && { openVSwitchDisabled: true }),
    ...((own > 0 || foreign.length > 0) && {
      openVSwitchFiles: { own, complete, ...(foreign.length > 0 && { foreign }) },
    }),
  };
}

async function readKernel({ kernelArguments, files }: Host, bootId: string): Promise<KernelStatus> {
  const [running, machine, bootLoader, record] = await Promise.all([
    kernelArguments.readRunning(),
    kernelArguments.readMachine(),
    kernelArguments.readBootLoader(),
    readKernelArgumentsRecord(files),
  ]);
  const concerned = running.filter((argument) => names.has(argument.replace(/=.*/s, "")));
  // The configuration of the boot loader may have been changed since another boot.
  const next = record.configured?.bootId === bootId ? record.configured.arguments : [];
  return {
    ...defined({
      arguments: concerned.length > 0 ? concerned : undefined,
      nextArguments: next.length > 0 ? next : undefined,
      bootLoader,
      bootLoaderError: record.error,
    }),
    ...machine,
  };
}

async function readReboot({ files }: Host, bootId: string): Promise<RebootStatus | undefined> {
  const record = await readRebootRecord(files);
  return record && { causes: record.causes, done: record.bootId !== bootId };
}

/** Arguments that concern what Switchyard configures. Others can contain secrets and are not reported. */
const names: ReadonlySet<string> = new Set([
  ...["intel_iommu", "amd_iommu", "iommu", "iommu.passthrough"],
  ...["pci", "ib_core.netns_mode"],
]);
