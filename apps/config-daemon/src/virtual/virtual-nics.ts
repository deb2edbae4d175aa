// SPDX-License-Identifier: Apache-2.0
/**
 * createVirtualNics shows the network cards of a virtual machine as PFs with one VF, which is the PF itself
 * (sriov-operator.md F.3, F.10). Their networks come from the cloud's metadata, which is read once. A card keeps its network
 * in a file, because it loses its MAC address with its kernel driver.
 */
import { defined, parseMacAddress, parsePciAddress, type InterfaceStatus } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { isDeepStrictEqual } from "node:util";
import { endsWithin, type StepTiming } from "../deadlines/with-deadline.ts";
import { readAwsNetworks } from "./aws.ts";
import { MetadataError } from "./fetch-text.ts";
import { formatKnownNics, knownNicsPath, parseKnownNics, type KnownNic } from "./known-nics.ts";
import { readOpenstackNetworks, type CloudNic } from "./openstack.ts";
import type { Platform } from "./platform.ts";

export interface VirtualNics {
  /** `problem` says why cards are missing: the metadata or the file cannot be read. Rejects with errors of readPlatform only. */
  addTo(pfs: readonly InterfaceStatus[]): Promise<{
    readonly interfaces: readonly InterfaceStatus[];
    readonly problem?: string | undefined;
  }>;
}

export interface VirtualNicsDeps {
  readonly timing: Pick<StepTiming, "nowMs" | "sleep">;
  /** Called until it resolves. */
  readonly readPlatform: () => Promise<Platform>;
  /** URL of the metadata service without a path. */
  readonly metadataUrl: string;
  /** Starts another pass, because a late answer has arrived or a failed request can be repeated. */
  readonly wake: () => void;
}

/** The link-local address at which all clouds have their metadata service. */
export const defaultMetadataUrl = "http://169.254.169.254";

/** Time that a pass waits for the metadata. */
const waitMs = 3_000;
const requestTimeoutMs = 5_000;
const firstPauseMs = 2_000;
const longestPauseMs = 5 * 60_000;

export function createVirtualNics(host: Host, deps: VirtualNicsDeps): VirtualNics {
  const { timing, metadataUrl: baseUrl, wake } = deps;
  let platform: Platform | undefined;
  let cloud: readonly CloudNic[] | undefined;
  let problem: string | undefined;
  let reading: Promise<void> | undefined;
  let failures = 0;
  let nextTryMs = 0;

  async function readCloud(from: Platform): Promise<void> {
    const timeoutMs = requestTimeoutMs;
    const readDrive = (path: string) => readConfigDrive(host, path);
    try {
      cloud = await (from === "aws"
        ? readAwsNetworks({ baseUrl, timeoutMs })
        : readOpenstackNetworks({ readDrive, baseUrl, timeoutMs }));
      problem = undefined;
    } catch (thrown) {
      if (!(thrown instanceof MetadataError || thrown instanceof HostError)) throw thrown;
      problem = thrown.message;
      failures += 1;
      const pauseMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
      nextTryMs = timing.nowMs() + pauseMs;
      void timing.sleep(pauseMs, new AbortController().signal).then(wake);
    }
  }

  /** Waits a short time for the answer, and starts no second request while one is running. */
  async function tryToReadCloud(from: Platform): Promise<void> {
    if (cloud !== undefined || (reading === undefined && timing.nowMs() < nextTryMs)) return;
    let isLate = false;
    reading ??= readCloud(from).finally(() => {
      reading = undefined;
      if (isLate) wake();
    });
    if (await endsWithin(reading, waitMs, timing)) return;
    isLate = true;
    problem = `the metadata of this ${from} instance has not arrived yet`;
  }

  async function recorded(): Promise<readonly KnownNic[]> {
    return parseKnownNics((await host.files.readText(knownNicsPath)) ?? "");
  }

  return {
    async addTo(pfs) {
      platform ??= await deps.readPlatform();
      if (platform === "baremetal") return { interfaces: pfs };
      await tryToReadCloud(platform);
      try {
        const before = await recorded();
        const known = combine(pfs, before, cloud ?? []);
        if (!isDeepStrictEqual(known, before)) await host.files.writeText(knownNicsPath, formatKnownNics(known));
        const byAddress = new Map<string, KnownNic>(known.map((nic) => [nic.pciAddress, nic]));
        return { interfaces: pfs.map((pf) => toVirtual(pf, byAddress.get(pf.pciAddress))), problem };
      } catch (thrown) {
        if (!(thrown instanceof HostError)) throw thrown;
        return { interfaces: pfs, problem: thrown.message };
      }
    },
  };
}

/** A drive with a file system that cannot be read, such as vfat, counts as absent: the metadata service has the same data. */
async function readConfigDrive(host: Host, path: string): Promise<string | undefined> {
  try {
    return await host.configDrive.readText(path);
  } catch (thrown) {
    if (thrown instanceof HostError && thrown.code === "EBADMSG") return undefined;
    throw thrown;
  }
}

/**
 * Returns the cards whose network is known, by ascending address. The MAC address of a network interface is better
 * evidence than the PCI address that a cloud reports, which is that of the hypervisor in some releases. A card without an
 * interface keeps what was recorded about its address.
 */
function combine(
  pfs: readonly InterfaceStatus[],
  before: readonly KnownNic[],
  cloud: readonly CloudNic[],
): readonly KnownNic[] {
  const known = new Map<string, KnownNic>(before.map((nic) => [nic.pciAddress, nic]));
  const shown = new Set(pfs.flatMap(({ mac }) => mac ?? []));
  for (const pf of pfs) {
    const pciAddress = parsePciAddress(pf.pciAddress);
    const mac = parseMacAddress(pf.mac ?? "");
    if (!pciAddress.ok) continue;
    const nic = mac.ok
      ? cloud.find((each) => each.mac === mac.value)
      : cloud.find((each) => each.pciAddress === pciAddress.value && !shown.has(each.mac));
    const isUnknown = !known.has(pciAddress.value);
    if (nic !== undefined && (mac.ok || isUnknown)) {
      known.set(pciAddress.value, { pciAddress: pciAddress.value, mac: nic.mac, netFilter: nic.netFilter });
    } else if (mac.ok && known.get(pciAddress.value)?.mac !== mac.value) {
      known.delete(pciAddress.value); // another card is in this slot
    }
  }
  return [...known.values()].sort((a, b) => (a.pciAddress < b.pciAddress ? -1 : 1));
}

/** The hypervisor passes a VF to the machine, so the card is its own and only VF. */
function toVirtual(pf: InterfaceStatus, nic: KnownNic | undefined): InterfaceStatus {
  if (nic === undefined) return pf;
  const { pciAddress, name, mtu, driver, vendor, deviceID } = pf;
  const { mac, netFilter } = nic;
  const { eSwitchMode: _mode, ...rest } = pf;
  return {
    ...rest,
    mac: pf.mac ?? mac,
    netFilter,
    totalvfs: 1,
    numVfs: 1,
    Vfs: [{ pciAddress, vfID: 0, mac: pf.mac ?? mac, ...defined({ name, mtu, driver, vendor, deviceID }) }],
  };
}
