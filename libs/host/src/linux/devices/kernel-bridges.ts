// SPDX-License-Identifier: Apache-2.0
/**
 * createKernelBridges implements LinuxBridges over rtnetlink. The kernel ignores an alias that is given at the creation of
 * an interface, so a new bridge has a group number from the first moment, and the alias shortly after.
 */
import { defined } from "@switchyard/api";
import {
  bridgePortSettings,
  createBridge,
  deleteLink,
  getLink,
  listBridgePorts,
  listBridges,
  setBridge,
  setBridgePort,
  setLinkAlias,
  setLinkUp,
  setMaster,
  type BridgeLink,
  type BridgePortSettings,
  type NetlinkSocket,
} from "@switchyard/netlink";
import { HostError, type HostOperation } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { ObservedLinuxBridge, LinuxBridgePortSettings, LinuxBridges } from "../../ports/linux-bridges.ts";
import { askKernel } from "../system/ask-kernel.ts";

/** Shown by `ip link show`. */
const ownAlias = "switchyard.io/owner=config-daemon";

/** `ip link show group 1398362946`: "SYSB" in ASCII. */
const ownGroup = 0x53595342;

/** The caller disposes of the socket. */
export function createKernelBridges(socket: NetlinkSocket): LinuxBridges {
  const { linuxBridges: at } = operations;

  async function toFacts(bridge: BridgeLink): Promise<ObservedLinuxBridge> {
    const { index, name, alias, adminUp, vlanFiltering, vlanProtocol } = bridge;
    const ports = isOwn(bridge) ? await listBridgePorts(socket, index) : [];
    return {
      name,
      isOwn: isOwn(bridge),
      isComplete: alias === ownAlias,
      adminUp,
      vlanFiltering,
      ...defined({ vlanProtocol }),
      ports: ports.map(({ name: port, parent, settings }) => ({ name: port, ...defined({ parent }), settings })),
    };
  }

  /** Acts on an own bridge. */
  function onOwn(operation: HostOperation, name: string, act: (bridge: BridgeLink) => Promise<void>): Promise<void> {
    return askKernel(operation, async () => {
      const bridge = (await listBridges(socket)).find((each) => each.name === name);
      if (bridge === undefined) throw new HostError(operation, "ENODEV", {});
      if (!isOwn(bridge)) throw new HostError(operation, "EPERM", { words: foreign });
      await act(bridge);
    });
  }

  /** Returns the index of the bridge or bond of which the interface is a port. */
  async function masterOf(port: string): Promise<number | undefined> {
    return (await getLink(socket, port)).masterIndex;
  }

  async function requirePort(operation: HostOperation, { index }: BridgeLink, port: string): Promise<void> {
    if ((await masterOf(port)) !== index)
      throw new HostError(operation, "EINVAL", { words: "not a port of the bridge" });
  }

  return {
    listBridges: () => askKernel(at.listBridges(), async () => Promise.all((await listBridges(socket)).map(toFacts))),
    createBridge: (name) =>
      askKernel(at.createBridge(name), async () => {
        const existing = (await listBridges(socket)).find((each) => each.name === name);
        if (existing === undefined) await createBridge(socket, { name, group: ownGroup });
        else if (!isOwn(existing)) throw new HostError(at.createBridge(name), "EEXIST", { words: foreign });
        await setLinkAlias(socket, name, ownAlias);
      }),
    setVlans: (name, vlans) =>
      onOwn(at.setVlans(name, vlans), name, () =>
        setBridge(socket, { name, vlanFiltering: vlans.filtering, vlanProtocol: vlans.protocol }),
      ),
    addPort: (name, port) =>
      onOwn(at.addPort(name, port), name, async ({ index }) => {
        const master = await masterOf(port);
        if (master === index) return;
        // The kernel would take the port away from its present bridge or bond.
        if (master !== undefined)
          throw new HostError(at.addPort(name, port), "EBUSY", { words: "port of another interface" });
        await setMaster(socket, port, index);
      }),
    removePort: (name, port) =>
      onOwn(at.removePort(name, port), name, async (bridge) => {
        await requirePort(at.removePort(name, port), bridge, port);
        await setMaster(socket, port, 0);
      }),
    setPort: (name, port, settings) =>
      onOwn(at.setPort(name, port, settings), name, async (bridge) => {
        await requirePort(at.setPort(name, port, settings), bridge, port);
        await setBridgePort(socket, port, knownSettings(at.setPort(name, port, settings), settings));
      }),
    setAdminUp: (name, up) => onOwn(at.setAdminUp(name, up), name, () => setLinkUp(socket, name, up)),
    deleteBridge: (name) => onOwn(at.deleteBridge(name), name, () => deleteLink(socket, name)),
  };
}

const foreign = "the bridge belongs to another program";

function isOwn({ alias, group }: BridgeLink): boolean {
  return alias === ownAlias || (alias === "" && group === ownGroup);
}

/** Rejects names that are not settings, and numbers that are too large for an attribute. */
function knownSettings(operation: HostOperation, settings: LinuxBridgePortSettings): BridgePortSettings {
  const known: Partial<Record<string, number>> = {};
  for (const [name, value] of Object.entries(settings)) {
    const isKnown = bridgePortSettings.some((each) => each === name);
    const isByte = name !== "priority" && name !== "path_cost";
    const isInRange = Number.isInteger(value) && value >= 0 && value <= (isByte ? 0xff : 0xffff);
    if (!isKnown || !isInRange) throw new HostError(operation, "EINVAL", { words: `${name} cannot be ${value}` });
    known[name] = value;
  }
  return known;
}
