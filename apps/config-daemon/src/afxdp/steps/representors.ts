// SPDX-License-Identifier: Apache-2.0
/**
 * The steps that change representors of subfunctions: their link, their MTU, and the software bridge that connects them. A bridge of
 * Linux loses a port with its network interface; in the database of Open vSwitch, the port stays.
 */
import { HostError, type Host, type HostOperation, type ObservedLinuxBridge, type OvsState } from "@switchyard/host";
import type { AfxdpStep } from "@switchyard/plan";
import type { AfxdpStepContext } from "./step-context.ts";

/** Sets the representor up, and its MTU. A driver that gives the subfunction none connects it in another way. */
export async function setRepresentor(
  { sfNumber, mtu }: AfxdpStep<"set-representor">,
  { host, findSubfunction }: AfxdpStepContext,
): Promise<void> {
  const name = (await findSubfunction(sfNumber))?.representor;
  if (name === undefined) return;
  if (mtu !== undefined) await host.links.setMtu(name, mtu);
  await host.links.setAdminUp(name, true);
}

/**
 * Makes the representor a port of the bridge of Linux or Open vSwitch. It leaves another bridge of Switchyard, and no bridge of others:
 * EBUSY. ENODEV if the bridge does not exist, EPERM if it is not one of Switchyard's, EIO if ovs-vswitchd does not run.
 */
export async function connectRepresentor(
  { sfNumber, bridge }: AfxdpStep<"connect-representor">,
  { host, findSubfunction }: AfxdpStepContext,
): Promise<void> {
  const name = (await findSubfunction(sfNumber))?.representor;
  if (name === undefined) return;
  const at = { action: `connect to bridge ${bridge}`, target: name };
  const bridges = await host.linuxBridges.listBridges();
  const ovs = await readOvs(host);
  const former = bridges.find(({ ports, isOwn }) => isOwn && ports.some((port) => port.name === name));
  if (bridges.some((one) => one.name === bridge)) {
    if (former?.name === bridge) return;
    await removeFromOvs(name, host);
    if (former !== undefined) await host.linuxBridges.removePort(former.name, name);
    return host.linuxBridges.addPort(bridge, name);
  }
  requireOvsBridge(at, bridge, ovs);
  await requireNoMaster(at, name, { host, bridges });
  if (former !== undefined) await host.linuxBridges.removePort(former.name, name);
  await host.ovs.addPort(bridge, name);
}

/**
 * Removes the representor from the bridge of Open vSwitch that has it, if Switchyard created the bridge. Nothing is removed while the
 * database does not answer: the pass for SR-IOV removes ports without network interface.
 */
export async function removeFromOvs(name: string, host: Host): Promise<void> {
  const { state } = await readOvs(host);
  for (const { name: bridge, isOwned, ports } of state?.bridges ?? []) {
    if (!isOwned || !ports.some((port) => port.name === name)) continue;
    await host.ovs.removePorts(bridge, [name]).catch(ignoreHostError);
  }
}

interface OvsAnswer {
  /** Absent if the daemon does not manage software bridges, and if the database does not answer. */
  readonly state?: OvsState | undefined;
  readonly error?: HostError;
}

async function readOvs({ ovs }: Host): Promise<OvsAnswer> {
  try {
    return { state: await ovs.readState() };
  } catch (error) {
    if (error instanceof HostError) return { error };
    throw error;
  }
}

function requireOvsBridge(at: HostOperation, bridge: string, { state, error }: OvsAnswer): void {
  if (error !== undefined) {
    const words = `the node has no bridge ${bridge} of Linux, and those of Open vSwitch are unknown: ${error.message}`;
    throw new HostError(at, error.code, { words, cause: error });
  }
  if (state?.bridges.some((one) => one.name === bridge) !== true) {
    const fields = "spec.bridge.linux or spec.bridge.ovs";
    const words = `the node has no bridge ${bridge}: a SriovNetworkNodePolicy with ${fields} creates it`;
    throw new HostError(at, "ENODEV", { words });
  }
  if (state.switchError !== undefined) throw new HostError(at, "EIO", { words: state.switchError });
}

/** Open vSwitch stores a port that the kernel does not give it. */
async function requireNoMaster(
  at: HostOperation,
  name: string,
  { host, bridges }: { readonly host: Host; readonly bridges: readonly ObservedLinuxBridge[] },
): Promise<void> {
  const links = await host.links.listLinks();
  const masterIndex = links.find((link) => link.name === name)?.masterIndex;
  const master = links.find(({ index }) => index === masterIndex);
  if (master === undefined || master.kind === "openvswitch") return;
  if (bridges.some((one) => one.isOwn && one.name === master.name)) return;
  const words = `it is a port of ${master.kind ?? "interface"} ${master.name}, which has to release it`;
  throw new HostError(at, "EBUSY", { words });
}

function ignoreHostError(error: unknown): void {
  if (!(error instanceof HostError)) throw error;
}
