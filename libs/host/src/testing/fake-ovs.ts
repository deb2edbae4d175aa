// SPDX-License-Identifier: Apache-2.0
/**
 * Implements Open vSwitch on the fake kernel: bridges whose ports work while their network interface exists. It survives the
 * daemon, as the real database does.
 */
import { defined, type OvsBridgeConfig } from "@switchyard/api";
import type { Ovs, OvsBridgeSettings, OvsEvent, ObservedOvsPort } from "../ports/ovs.ts";
import { createFakeEvents } from "./fake-events.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeOvsDeps {
  /** Whether the daemon manages software bridges. */
  readonly isManaged: boolean;
  readonly hasInterface: (name: string) => boolean;
}

export interface FakeOvs {
  readonly port: Ovs;
  readonly byHand: FakeOvsByHand;
}

/** Actions of an administrator with ovs-vsctl. They take effect at once. */
export interface FakeOvsByHand {
  addBridge(name: string): void;
  removeBridge(name: string): void;
  /** `podNamespace` is that of the pod for which the CNI plugin ovs adds the port. */
  addPort(bridge: string, name: string, podNamespace?: string): void;
  removePort(name: string): void;
  setOtherConfig(bridge: string, key: string, value: string): void;
  /** Returns all bridges with the names of their ports. */
  listBridges(): Readonly<Record<string, readonly string[]>>;
  readOtherConfig(bridge: string): Readonly<Record<string, string>>;
  /** Ends ovsdb-server. The database stays. */
  stop(): void;
  start(): void;
  /** Ends ovs-vswitchd. The database answers. */
  stopSwitch(): void;
  startSwitch(): void;
}

/** A map column. Entries that Switchyard set are its own. */
type Entries = Map<string, { readonly value: string; readonly isOwn: boolean }>;

interface FakeBridge {
  isOwned: boolean;
  datapathType: string | undefined;
  failMode: OvsBridgeConfig["failMode"];
  readonly externalIDs: Entries;
  readonly otherConfig: Entries;
  readonly ports: Map<string, FakeOvsPort>;
}

interface FakeOvsPort {
  pciAddress: string | undefined;
  type: string | undefined;
  podNamespace: string | undefined;
  mtuRequest: number | undefined;
  readonly options: Entries;
  readonly externalIDs: Entries;
  readonly otherConfig: Entries;
}

const switchError = "ovs-vswitchd does not run: it has not applied the configuration for 10 s";

const kernelTypes: ReadonlySet<string> = new Set(["", "system"]);
const virtualTypes: ReadonlySet<string> = new Set(["internal", "patch", "vxlan", "geneve", "gre"]);

export function createFakeOvs({ isManaged, hasInterface }: FakeOvsDeps): FakeOvs {
  const bridges = new Map<string, FakeBridge>();
  const events = createFakeEvents<OvsEvent>();
  const hardwareOffload: { isOn: boolean; mark: string | undefined } = { isOn: false, mark: undefined };
  let isRunning = true;
  let isSwitchRunning = true;

  function changed(): void {
    events.emit({ kind: "changed" });
  }

  function whileRunning<Value>(act: () => Value): Promise<Value> {
    return answer(() => {
      if (!isRunning) throw new Refusal("ENOTCONN", "cannot connect to unix:/run/openvswitch/db.sock: ENOENT");
      return act();
    });
  }

  function ownedBridge(name: string): FakeBridge | undefined {
    const bridge = bridges.get(name);
    if (bridge?.isOwned === false) throw new Refusal("EPERM", "the bridge was not created by Switchyard");
    return bridge;
  }

  function bridgeOfPort(name: string): { readonly bridgeName: string; readonly bridge: FakeBridge } | undefined {
    for (const [bridgeName, bridge] of bridges) if (bridge.ports.has(name)) return { bridgeName, bridge };
    return undefined;
  }

  /** Returns the bridge that has the port, if any. */
  function requireReleased(name: string): ReturnType<typeof bridgeOfPort> {
    const holder = bridgeOfPort(name);
    if (holder === undefined || holder.bridge.isOwned) return holder;
    throw new Refusal("EBUSY", `${name} is a port of bridge ${holder.bridgeName}, which has to release it`);
  }

  function requireApplied(): void {
    if (isSwitchRunning) return;
    throw new Refusal("ETIMEDOUT", "the configuration is stored, but ovs-vswitchd has not applied it");
  }

  function toPort(name: string, port: FakeOvsPort): ObservedOvsPort {
    const { type = "", pciAddress, mtuRequest, podNamespace } = port;
    const works = kernelTypes.has(type) ? hasInterface(name) : virtualTypes.has(type);
    const settings = defined({
      type: port.type,
      options: ownEntries(port.options),
      externalIDs: ownEntries(port.externalIDs),
      otherConfig: ownEntries(port.otherConfig),
      mtuRequest,
    });
    return {
      name,
      type,
      isMissing: !works,
      ...defined({
        uplink: pciAddress === undefined ? undefined : { pciAddress, settings },
        podNamespace,
        error: works ? undefined : `could not open network device ${name} (No such device)`,
      }),
    };
  }

  function setBridge({ name, settings, uplink }: OvsBridgeSettings): void {
    const existing = bridges.get(name);
    if (existing?.isOwned === false) {
      throw new Refusal("EEXIST", "a bridge of this name exists, which Switchyard did not create");
    }
    const holder = requireReleased(uplink.name);
    const bridge = existing ?? newBridge();
    bridges.set(name, bridge);
    bridge.isOwned = true;
    bridge.datapathType = settings.datapathType;
    bridge.failMode = settings.failMode;
    merge(bridge.externalIDs, settings.externalIDs);
    merge(bridge.otherConfig, settings.otherConfig);

    const port = holder?.bridge.ports.get(uplink.name) ?? newPort();
    holder?.bridge.ports.delete(uplink.name);
    for (const [other, { pciAddress }] of bridge.ports) if (pciAddress !== undefined) bridge.ports.delete(other);
    bridge.ports.set(uplink.name, port);
    port.pciAddress = uplink.pciAddress;
    port.type = uplink.settings.type;
    port.mtuRequest = uplink.settings.mtuRequest;
    merge(port.options, uplink.settings.options);
    merge(port.externalIDs, uplink.settings.externalIDs);
    merge(port.otherConfig, uplink.settings.otherConfig);
    changed();
    requireApplied();
    const { error } = toPort(uplink.name, port);
    if (error !== undefined) throw new Refusal("EIO", error);
  }

  function addPort(name: string, portName: string): void {
    const bridge = ownedBridge(name);
    if (bridge === undefined) throw new Refusal("ENODEV", "no bridge of Open vSwitch has this name");
    const holder = requireReleased(portName);
    const port = holder?.bridge.ports.get(portName) ?? newPort();
    if (holder?.bridgeName !== name) {
      holder?.bridge.ports.delete(portName);
      bridge.ports.set(portName, port);
      changed();
      requireApplied();
    }
    const { error } = toPort(portName, port);
    if (error !== undefined) throw new Refusal("EIO", error);
  }

  function adoptBridge({ name, settings, uplink }: OvsBridgeSettings): void {
    const bridge = bridges.get(name);
    if (bridge === undefined || bridge.isOwned) return;
    bridge.isOwned = true;
    adopt(bridge.externalIDs, settings.externalIDs);
    adopt(bridge.otherConfig, settings.otherConfig);
    const port = bridge.ports.get(uplink.name);
    if (port !== undefined) {
      port.pciAddress = uplink.pciAddress;
      adopt(port.options, uplink.settings.options);
      adopt(port.externalIDs, uplink.settings.externalIDs);
      adopt(port.otherConfig, uplink.settings.otherConfig);
    }
    changed();
  }

  const port: Ovs = {
    readState: () =>
      isManaged
        ? whileRunning(() => ({
            bridges: [...bridges].sort(byKey).map(([name, bridge]) => ({
              name,
              isOwned: bridge.isOwned,
              settings: bridge.isOwned ? settingsOf(bridge) : {},
              ports: [...bridge.ports].sort(byKey).map(([portName, each]) => toPort(portName, each)),
            })),
            hardwareOffload: { isOn: hardwareOffload.isOn, ...defined({ mark: hardwareOffload.mark }) },
            ...(!isSwitchRunning && [...bridges.values()].some(({ isOwned }) => isOwned) && { switchError }),
          }))
        : answer(() => undefined),
    setBridge: (bridge) =>
      whileRunning(() => {
        setBridge(bridge);
      }),
    addPort: (bridge, name) =>
      whileRunning(() => {
        addPort(bridge, name);
      }),
    removeBridge: (name) =>
      whileRunning(() => {
        if (ownedBridge(name) === undefined) return;
        bridges.delete(name);
        changed();
      }),
    removePorts: (name, ports) =>
      whileRunning(() => {
        const bridge = ownedBridge(name);
        for (const each of ports) bridge?.ports.delete(each);
        changed();
      }),
    adoptBridge: (bridge) =>
      whileRunning(() => {
        adoptBridge(bridge);
      }),
    setHardwareOffload: (mark) =>
      whileRunning(() => {
        Object.assign(hardwareOffload, { isOn: true, mark });
        changed();
      }),
    watch: events.port.watch,
  };

  const byHand: FakeOvsByHand = {
    addBridge(name) {
      bridges.set(name, newBridge());
      changed();
    },
    removeBridge(name) {
      bridges.delete(name);
      changed();
    },
    addPort(bridge, name, podNamespace) {
      bridges.get(bridge)?.ports.set(name, { ...newPort(), podNamespace });
      changed();
    },
    removePort(name) {
      bridgeOfPort(name)?.bridge.ports.delete(name);
      changed();
    },
    setOtherConfig(bridge, key, value) {
      const entries = bridges.get(bridge)?.otherConfig;
      entries?.set(key, { value, isOwn: entries.get(key)?.isOwn === true });
      changed();
    },
    listBridges: () =>
      Object.fromEntries([...bridges].sort(byKey).map(([name, { ports }]) => [name, [...ports.keys()].sort()])),
    readOtherConfig: (name) =>
      Object.fromEntries([...(bridges.get(name)?.otherConfig ?? [])].map(([key, { value }]) => [key, value])),
    stop() {
      isRunning = false;
      changed();
    },
    start() {
      isRunning = true;
      changed();
    },
    stopSwitch() {
      isSwitchRunning = false;
      changed();
    },
    startSwitch() {
      isSwitchRunning = true;
      changed();
    },
  };
  return { port, byHand };
}

function newBridge(): FakeBridge {
  const maps = { externalIDs: new Map(), otherConfig: new Map(), ports: new Map() };
  return { isOwned: false, datapathType: undefined, failMode: undefined, ...maps };
}

function newPort(): FakeOvsPort {
  const maps = { options: new Map(), externalIDs: new Map(), otherConfig: new Map() };
  return { pciAddress: undefined, type: undefined, podNamespace: undefined, mtuRequest: undefined, ...maps };
}

function settingsOf({ datapathType, externalIDs, otherConfig, failMode }: FakeBridge): OvsBridgeConfig {
  return {
    ...defined({ datapathType, externalIDs: ownEntries(externalIDs), otherConfig: ownEntries(otherConfig) }),
    ...(failMode && { failMode }),
  };
}

function ownEntries(entries: Entries): Readonly<Record<string, string>> | undefined {
  const own = [...entries].filter(([, { isOwn }]) => isOwn).map(([key, { value }]) => [key, value] as const);
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

function merge(entries: Entries, wanted: Readonly<Record<string, string>> = {}): void {
  for (const [key, { isOwn }] of entries) if (isOwn) entries.delete(key);
  for (const [key, value] of Object.entries(wanted)) entries.set(key, { value, isOwn: true });
}

function adopt(entries: Entries, named: Readonly<Record<string, string>> = {}): void {
  for (const [key, { value }] of entries) if (Object.hasOwn(named, key)) entries.set(key, { value, isOwn: true });
}

function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1;
}
