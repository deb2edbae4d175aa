// SPDX-License-Identifier: Apache-2.0
/**
 * readOvs reads Open vSwitch in the shape of SriovNetworkNodeState.status. A database that cannot be read is not an error of
 * the observation: everything else on the node is still observed and configured.
 */
import { defined, type InterfaceStatus, type OpenVSwitchStatus, type OvsBridge } from "@switchyard/api";
import {
  HostError,
  isPfBridgeName,
  type Host,
  type Link,
  type ObservedOvsBridge,
  type ObservedOvsPort,
  type OvsState,
} from "@switchyard/host";
import { readOffloadMark } from "../files/host-ovs-files.ts";

export interface OvsObservation {
  /** The bridges that Switchyard created; undefined if they are unknown. */
  readonly ovs: readonly OvsBridge[] | undefined;
  /** Undefined if the daemon does not manage software bridges. */
  readonly openVSwitch: OpenVSwitchStatus | undefined;
}

export interface OvsSurroundings {
  readonly links: readonly Link[];
  readonly interfaces: readonly InterfaceStatus[];
  /** Whether the node boots, and no container runtime has started yet. */
  readonly isAtBoot: boolean;
}

/** Never rejects because Open vSwitch cannot be reached: the result has the error. */
export async function readOvs(host: Host, surroundings: OvsSurroundings): Promise<OvsObservation> {
  try {
    const state = await host.ovs.readState();
    if (state === undefined) return { ovs: [], openVSwitch: undefined };
    const isMarked = state.hardwareOffload.mark !== undefined;
    const isGone = await leftByPods(host, state, surroundings);
    return toStatus(state, { ...surroundings, isGone, mark: isMarked ? await readOffloadMark(host) : undefined });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { ovs: undefined, openVSwitch: { error: error.message } };
  }
}

/** Reports whether the pod of a port is gone. */
type IsGone = (port: ObservedOvsPort) => boolean;

/**
 * Open vSwitch keeps the ports of pods over a reboot, and a representor that gets the name of such a port works with the settings
 * of a pod that is gone. The CNI plugin ovs then cannot add the port for the next pod (cnis.md 1.5). While a node boots, no pod runs, so
 * such a port is from before the boot if its network namespace does not exist: `/run` is empty after a reboot. In a running node, the port may be
 * that of a pod that is being started.
 */
async function leftByPods({ files }: Host, { bridges }: OvsState, { isAtBoot }: OvsSurroundings): Promise<IsGone> {
  const isOfPod = ({ podNamespace }: ObservedOvsPort): boolean => podNamespace !== undefined;
  if (!isAtBoot || !bridges.some(({ isOwned, ports }) => isOwned && ports.some(isOfPod))) return () => false;
  const hasNone = !(await files.listNames("/run")).includes("netns");
  const namespaces = new Set(hasNone ? [] : await files.listNames("/run/netns"));
  return ({ podNamespace = "" }) => {
    const [, name] = /^(?:\/var)?\/run\/netns\/([^/]+)$/.exec(podNamespace) ?? [];
    return name !== undefined && !namespaces.has(name);
  };
}

interface Surroundings extends OvsSurroundings {
  readonly isGone: IsGone;
  readonly mark: string | undefined;
}

function toStatus(state: OvsState, { links, interfaces, isGone, mark }: Surroundings): OvsObservation {
  const names = new Set(links.flatMap(({ name, altNames }) => [name, ...altNames]));
  const pfByName = new Map(interfaces.map(({ name = "", pciAddress }) => [name, pciAddress] as const));
  const { isOn, mark: offloadMark } = state.hardwareOffload;
  const others = state.bridges
    .filter(({ isOwned }) => !isOwned)
    .map(({ name, ports }) => ({ name, pciAddresses: ports.flatMap((port) => pfByName.get(port.name) ?? []) }))
    .filter(({ name, pciAddresses }) => pciAddresses.length > 0 || isPfBridgeName(name));
  return {
    ovs: state.bridges.filter(({ isOwned }) => isOwned).map((bridge) => toBridge(bridge, names, isGone)),
    openVSwitch: {
      hardwareOffload: isOn,
      ...defined({
        switchError: state.switchError,
        restartNeeded: offloadMark !== undefined && offloadMark === mark ? true : undefined,
        otherBridges: others.length === 0 ? undefined : others.map(withoutEmpty),
      }),
    },
  };
}

function toBridge(
  { name, settings, ports }: ObservedOvsBridge,
  linkNames: ReadonlySet<string>,
  isGone: IsGone,
): OvsBridge {
  const uplinks = ports.flatMap(({ name: port, uplink, error }) =>
    uplink === undefined
      ? []
      : [{ pciAddress: uplink.pciAddress, name: port, ...defined({ interface: filled(uplink.settings), error }) }],
  );
  const stalePorts = ports.filter((port) => isGone(port) || isStale(port, linkNames)).map((port) => port.name);
  return {
    name,
    ...defined({
      bridge: filled(settings),
      uplinks: uplinks.length === 0 ? undefined : uplinks,
      stalePorts: stalePorts.length === 0 ? undefined : stalePorts,
    }),
  };
}

/** Both programs agree that the interface is gone: ovs-vswitchd could not open it, and the kernel has no such name. */
function isStale({ name, type, uplink, isMissing }: ObservedOvsPort, linkNames: ReadonlySet<string>): boolean {
  return uplink === undefined && isMissing && (type === "" || type === "system") && !linkNames.has(name);
}

function filled<Settings extends object>(settings: Settings): Settings | undefined {
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function withoutEmpty({ name, pciAddresses }: { readonly name: string; readonly pciAddresses: readonly string[] }) {
  return { name, ...(pciAddresses.length > 0 && { pciAddresses }) };
}
