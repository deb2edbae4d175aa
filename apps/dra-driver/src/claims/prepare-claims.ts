// SPDX-License-Identifier: Apache-2.0
/**
 * createClaims prepares and unprepares ResourceClaims. Both can be repeated, and killed at any instruction:
 *
 * - The file of the claim is written before the first change of a VF, so that a VF that was changed always belongs to a claim.
 *   The config daemon reads the file and leaves the driver of the VF alone.
 * - The kubelet repeats a call until it has an answer, so what was begun is completed or undone.
 * - The file is removed last. If a VF could not be restored, the config daemon sees a VF of no claim and restores it.
 *
 * Which VFs a claim has is decided under one lock: the kernel, all other claims and the kubelet are asked before the file is written.
 */
import { draDriverName, parsePciAddress, type SriovNetworkNodeState } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import type { ClaimRef, PreparedDevice } from "@switchyard/kubelet";
import { parseAllocatedClaim, type AllocatedClaim } from "@switchyard/policy";
import {
  addressOfDevice,
  cdiDeviceOf,
  cdiDirectory,
  claimSpecFile,
  type ClaimDevice,
  type ClaimRecord,
  type ContainerEdits,
} from "@switchyard/render";
import { createTurns, type Logger } from "@switchyard/service";
import { createClaimFiles } from "./claim-files.ts";
import { containerEnv } from "./container-env.ts";
import {
  baseRequest,
  deviceInfoDirectory,
  deviceInfoEnd,
  deviceInfoFiles,
  metadataFile,
  metadataStart,
  type MetadataFile,
} from "./container-files.ts";
import { readDeviceNodes, type DeviceNodes } from "./device-nodes.ts";
import { findVf, kernelProblem, type NodeVf } from "./find-vf.ts";
import { bindAsPolicySays, bindForClaim } from "./vf-drivers.ts";

export interface ClaimsDeps {
  readonly nodeName: string;
  /** Prefix of resource names, without the slash. */
  readonly resourcePrefix: string;
  readonly host: Pick<Host, "sriov" | "modules" | "files">;
  /** Directory on the host for metadata files. */
  readonly metadataDirectory: string;
  /** Returns the state of the node from the cache. */
  readonly state: () => SriovNetworkNodeState | undefined;
  /** Reads the ResourceClaim from the API server. Rejects with KubeError. */
  readonly readClaim: (claim: ClaimRef) => Promise<unknown>;
  /**
   * Returns why VFs cannot be given to the claim now, by address: another pod has them, or the config daemon is about to change them.
   * Asked only for VFs that the claim does not have yet. Rejects if it is not known.
   */
  readonly obstacles: (claim: ClaimRef, addresses: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Returns why the driver can attach no VF to a pod that starts now; undefined if it can, or if it is not meant to. */
  readonly whyNotAttached: () => string | undefined;
  /** Called when a claim that had no VFs is prepared. */
  readonly prepared: (claim: AllocatedClaim) => void;
  readonly log: Logger;
}

export interface Claims {
  /** Rejects with the reason, a sentence. The kubelet repeats the call. */
  prepare(claim: ClaimRef): Promise<readonly PreparedDevice[]>;
  unprepare(claim: ClaimRef): Promise<void>;
  /** Returns the records of all claims. */
  records(): Promise<readonly ClaimRecord[]>;
}

/** A VF of the claim with everything that is known about it. */
interface ClaimVf extends ClaimDevice {
  /** Name of the device in the ResourceSlice. */
  readonly device: string;
  readonly isVhost: boolean;
  readonly vf: NodeVf;
}

export function createClaims(deps: ClaimsDeps): Claims {
  const { nodeName, resourcePrefix, host, log } = deps;
  const { files } = host;
  const records = createClaimFiles(files);
  const turns = createTurns();
  /** Names of files that were reported as unreadable. */
  const reported = new Set<string>();

  async function prepareNow(ref: ClaimRef): Promise<readonly PreparedDevice[]> {
    if (claimSpecFile(ref.uid) === undefined) throw new Error(`"${ref.uid.slice(0, 64)}" is not the uid of a claim`);
    const claim = await readAllocated(ref);
    const vfs = claim.devices.map((device) => toClaimVf(device, deps.state()));
    if (vfs.length === 0) return [];
    const added = new Set(await turns.run(() => reserve(claim, vfs), reservation));
    // A running pod keeps the driver of its VF, whatever the policy says meanwhile.
    const toBind = vfs.filter(
      ({ isAdmin, driver, pciAddress }) => !isAdmin && (driver !== undefined || added.has(pciAddress)),
    );
    await Promise.all(toBind.map(({ vf, driver }) => bindForClaim(host, vf, driver)));
    await writeFiles(claim, vfs);
    if (added.size > 0) deps.prepared(claim);
    return vfs.map(({ request, device, ...vf }) => ({
      requests: [request],
      pool: nodeName,
      device,
      cdiDevices: [cdiDeviceOf(vf, ref.uid)],
    }));
  }

  async function readAllocated(ref: ClaimRef): Promise<AllocatedClaim> {
    const parsed = parseAllocatedClaim(await deps.readClaim(ref), { driver: draDriverName, pool: nodeName });
    if (!parsed.ok) throw new Error(parsed.error);
    const { uid } = parsed.value;
    if (uid !== ref.uid) throw new Error(`the claim has the uid ${uid}; the one with ${ref.uid} was deleted`);
    return parsed.value;
  }

  /** Records that the claim has the VFs, unless something speaks against it. Returns the addresses of those that it did not have. */
  async function reserve(claim: AllocatedClaim, vfs: readonly ClaimVf[]): Promise<readonly string[]> {
    const { namespace, name, uid } = claim;
    const own = vfs.filter(({ isAdmin }) => !isAdmin);
    for (const { vf } of vfs) {
      const problem = await kernelProblem(vf, host.sriov);
      if (problem !== undefined) throw new Error(problem);
    }
    const { records: all, unreadable } = await listRecords();
    const mine = all.find((record) => record.uid === uid);
    const owner = new Map(
      all
        .filter((record) => record !== mine)
        .flatMap((record) =>
          record.devices.filter(({ isAdmin }) => !isAdmin).map(({ pciAddress }) => [pciAddress, record] as const),
        ),
    );
    for (const { pciAddress } of own) {
      const other = owner.get(pciAddress);
      if (other !== undefined) {
        throw new Error(`VF ${pciAddress} is prepared for claim ${other.namespace}/${other.name} (${other.uid})`);
      }
    }
    const foreign = unreadable.filter((file) => file !== claimSpecFile(uid));
    const had = new Set(mine?.devices.filter(({ isAdmin }) => !isAdmin).map(({ pciAddress }) => pciAddress));
    const added = own.map(({ pciAddress }) => pciAddress).filter((pciAddress) => !had.has(pciAddress));
    if (added.length > 0) refuseUnattached(claim);
    await refuseUnknown(added, foreign);
    const obstacles =
      added.length === 0 ? new Map<string, string>() : await deps.obstacles({ namespace, name, uid }, added);
    for (const address of added) {
      const obstacle = obstacles.get(address);
      if (obstacle !== undefined) throw new Error(obstacle);
    }
    // A claim that has its VFs keeps the complete file until the next one replaces it.
    if (mine === undefined || added.length > 0) {
      await records.write({ namespace, name, uid, devices: vfs.map(toDevice), edits: [] });
    }
    return added;
  }

  /** The kubelet prepares the claims of a pod before its sandbox starts, so the pod waits until its interfaces can be added. */
  function refuseUnattached({ namespace, devices }: AllocatedClaim): void {
    const named = devices.find(({ isAdmin, config }) => !isAdmin && config.netAttachDefName !== undefined);
    const why = named === undefined ? undefined : deps.whyNotAttached();
    if (named === undefined || why === undefined) return;
    const { netAttachDefNamespace = namespace, netAttachDefName = "" } = named.config;
    throw new Error(
      `VfConfig names the network ${netAttachDefNamespace}/${netAttachDefName}, which cannot be attached: ${why}`,
    );
  }

  /** A claim whose file is not readable keeps its VFs, which have device-info files. Unknown counts as held. */
  async function refuseUnknown(addresses: readonly string[], [file]: readonly string[]): Promise<void> {
    if (file === undefined) return;
    const names = await files.listNames(deviceInfoDirectory);
    for (const address of addresses) {
      if (!names.some((name) => name.endsWith(deviceInfoEnd(address)))) continue;
      throw new Error(
        `VF ${address} may be prepared for another claim, whose file ${cdiDirectory}/${file} is not readable`,
      );
    }
  }

  /** Says once which files are not readable. They stay until their claims end. */
  async function listRecords(): ReturnType<typeof records.list> {
    const found = await records.list();
    for (const file of found.unreadable) {
      if (!reported.has(file)) {
        log.warn(
          { file: `${cdiDirectory}/${file}` },
          "file of a claim is not readable; its VFs are given to no other claim",
        );
      }
      reported.add(file);
    }
    return found;
  }

  async function writeFiles(claim: AllocatedClaim, vfs: readonly ClaimVf[]): Promise<void> {
    const nodes = await Promise.all(vfs.map(readNodes));
    const metadata = [...Map.groupBy(vfs, ({ request }) => baseRequest(request)).values()].flatMap(
      ([first, ...rest]) => (first === undefined ? [] : [metadataFile(claim, [first, ...rest], metadataOptions)]),
    );
    for (const { path, text } of metadata) await writeIfOther(path, text);
    for (const { isAdmin, vf } of vfs) {
      const resources = isAdmin ? [] : [`${resourcePrefix}/${vf.group.resourceName ?? ""}`, claim.name];
      for (const { path, text } of deviceInfoFiles(vf, resources)) await writeIfOther(path, text);
    }
    const { namespace, name, uid } = claim;
    await records.write({
      ...{ namespace, name, uid },
      devices: vfs.map(toDevice),
      edits: vfs.map((vf, index) => editsOf(vf, { vfs, nodes, metadata, index })),
    });
  }

  const metadataOptions = { directory: deps.metadataDirectory, pool: nodeName, resourcePrefix };

  async function readNodes({ vf, isAdmin, isVhost }: ClaimVf): Promise<DeviceNodes> {
    if (isAdmin) return { paths: [] };
    const isVfio = (await host.sriov.readBinding(vf.address))?.driver === "vfio-pci";
    return readDeviceNodes(files, vf.address, { isVfio, isRdma: vf.group.isRdma === true, isVhost });
  }

  interface EditsInput {
    readonly vfs: readonly ClaimVf[];
    readonly nodes: readonly DeviceNodes[];
    readonly metadata: readonly MetadataFile[];
    readonly index: number;
  }

  /** The first VF of a request brings what concerns the whole request. */
  function editsOf({ request }: ClaimVf, { vfs, nodes, metadata, index }: EditsInput): ContainerEdits {
    const deviceNodes = nodes[index]?.paths ?? [];
    const base = baseRequest(request);
    const ofRequest = vfs.map((vf, nth) => ({ vf, nth })).filter(({ vf }) => baseRequest(vf.request) === base);
    if (ofRequest[0]?.nth !== index) return { env: [], deviceNodes, mounts: [] };
    const env = containerEnv(
      ofRequest
        .filter(({ vf }) => !vf.isAdmin)
        .map(({ vf, nth }) => ({
          resource: `${resourcePrefix}/${vf.vf.group.resourceName ?? ""}`,
          address: vf.pciAddress,
          ...(nodes[nth]?.vfioGroup !== undefined && { vfioGroup: nodes[nth].vfioGroup }),
        })),
    );
    const mounts = metadata
      .filter(({ request: ofFile }) => ofFile === base)
      .map(({ path: hostPath, containerPath }) => ({ hostPath, containerPath }));
    return { env, deviceNodes, mounts };
  }

  async function writeIfOther(path: string, text: string): Promise<void> {
    if ((await files.readText(path)) !== text) await files.writeText(path, text);
  }

  async function unprepareNow(ref: ClaimRef): Promise<void> {
    const { uid } = ref;
    const found = await records.read(uid);
    if (found === undefined) return;
    const record = found === "unreadable" ? await rebuild(ref) : found;
    const state = deps.state();
    for (const { pciAddress, isAdmin, driver } of record.devices) {
      if (isAdmin) continue;
      if (driver !== undefined && state !== undefined) await restore(pciAddress, state);
      const end = deviceInfoEnd(pciAddress);
      await removeMatching(deviceInfoDirectory, (name) => name.endsWith(end));
    }
    await removeMatching(deps.metadataDirectory, (name) => name.startsWith(metadataStart(uid)));
    await records.remove(uid);
    log.info({ claim: `${record.namespace}/${record.name}`, uid }, "claim unprepared");
  }

  /** Returns the record of a claim whose file is not readable, from the claim itself; without VFs if the claim is gone. */
  async function rebuild(ref: ClaimRef): Promise<ClaimRecord> {
    const parsed = parseAllocatedClaim(await deps.readClaim(ref), { driver: draDriverName, pool: nodeName });
    const isSame = parsed.ok && parsed.value.uid === ref.uid;
    const devices = (isSame ? parsed.value.devices : []).flatMap(({ device, request, isAdmin, config: { driver } }) => {
      const address = parsePciAddress(addressOfDevice(device) ?? "");
      if (!address.ok) return [];
      return [{ pciAddress: address.value, request, isAdmin, ...(driver !== undefined && !isAdmin && { driver }) }];
    });
    const claim = `${ref.namespace}/${ref.name}`;
    log.warn(
      { claim, vfs: devices.length },
      "file of the claim is not readable; the VFs of its allocation are returned",
    );
    return { ...ref, devices };
  }

  /** A VF that cannot be restored keeps no pod from ending: the config daemon restores it as soon as it belongs to no claim. */
  async function restore(address: ClaimDevice["pciAddress"], state: SriovNetworkNodeState): Promise<void> {
    const vf = findVf(state, address);
    if (!vf.ok) return;
    try {
      if ((await host.sriov.readBinding(address)) !== undefined) await bindAsPolicySays(host, vf.value);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      log.warn({ vf: address, error }, "VF not restored; the config daemon will do it");
    }
  }

  async function removeMatching(directory: string, matches: (name: string) => boolean): Promise<void> {
    for (const name of await files.listNames(directory)) if (matches(name)) await files.remove(`${directory}/${name}`);
  }

  return {
    prepare: (claim) => turns.run(() => prepareNow(claim), claim.uid),
    unprepare: (claim) => turns.run(() => unprepareNow(claim), claim.uid),
    records: async () => (await listRecords()).records,
  };
}

/** Key of the lock under which VFs are given to claims. It is not the uid of an object. */
const reservation = "/";

function toDevice({ pciAddress, request, isAdmin, driver }: ClaimVf): ClaimDevice {
  return { pciAddress, request, isAdmin, ...(driver !== undefined && { driver }) };
}

function toClaimVf(
  { request, device, isAdmin, config }: AllocatedClaim["devices"][number],
  state: SriovNetworkNodeState | undefined,
): ClaimVf {
  const address = parsePciAddress(addressOfDevice(device) ?? "");
  if (!address.ok) throw new Error(`device "${device.slice(0, 63)}" is not the name of a VF`);
  if (state === undefined) throw new Error("the SriovNetworkNodeState of the node is not known yet");
  const vf = findVf(state, address.value);
  if (!vf.ok) throw new Error(vf.error);
  const isVhost = config.addVhostMount === true || vf.value.group.needVhostNet === true;
  const driver = isAdmin ? undefined : config.driver;
  return {
    ...{ pciAddress: address.value, request, device, isAdmin, isVhost, vf: vf.value },
    ...(driver && { driver }),
  };
}
