// SPDX-License-Identifier: Apache-2.0
/**
 * A program that calls one function of this library and prints its result as JSON, for tests in the VM lab:
 * `node call-verb.mjs createBridge '{"name":"br0"}'`. An error is `{"error":{"code":…,"message":…}}`.
 */
import {
  addVdpaDevice,
  createBridge,
  defaultRouteLinks,
  deleteLink,
  deleteVdpaDevice,
  ethtoolFamily,
  getFeatures,
  getLink,
  getRdmaMode,
  listBridgePorts,
  listBridges,
  listVdpaDevices,
  listVdpaManagementDevices,
  NetlinkError,
  NetlinkSocket,
  protocols,
  resolveFamily,
  routeLinks,
  setBridge,
  setBridgePort,
  setFeature,
  setLinkAlias,
  setMaster,
  setRdmaMode,
  setVfGuids,
  vdpaFamily,
  type GenericFamily,
} from "../index.ts";

type Arguments = never[];

const [verb = "", ...texts] = process.argv.slice(2);
const values = texts.map((text) => JSON.parse(text) as never);

const route = {
  createBridge,
  deleteLink,
  listBridges,
  setBridge,
  setLinkAlias,
  setMaster,
  setVfGuids,
  listBridgePorts,
  setBridgePort,
  defaultRouteLinks,
  routeLinks,
  getLink,
};
const rdma = { getRdmaMode, setRdmaMode };
const ethtool = { getFeatures, setFeature };
const vdpa = { addVdpaDevice, deleteVdpaDevice, listVdpaDevices, listVdpaManagementDevices };

try {
  process.stdout.write(`${JSON.stringify((await call()) ?? null, withSets)}\n`);
} catch (error) {
  if (!(error instanceof NetlinkError)) throw error;
  process.stdout.write(`${JSON.stringify({ error: { code: error.code, message: error.message } })}\n`);
}

async function call(): Promise<unknown> {
  if (verb in route) return onSocket(protocols.route, route);
  if (verb in rdma) return onSocket(protocols.rdma, rdma);
  await using socket = new NetlinkSocket({ protocol: protocols.generic });
  const [name, verbs] = verb in ethtool ? [ethtoolFamily, ethtool] : [vdpaFamily, vdpa];
  const family = await resolveFamily(socket, name);
  if (family === undefined) throw new Error(`the kernel has no family ${name}`);
  return await (verbs as Verbs<GenericFamily>)[verb]?.(family, ...values);
}

type Verbs<Target> = Readonly<Record<string, (target: Target, ...values: Arguments) => Promise<unknown>>>;

async function onSocket(protocol: number, verbs: Verbs<NetlinkSocket>): Promise<unknown> {
  await using socket = new NetlinkSocket({ protocol });
  return await verbs[verb]?.(socket, ...values);
}

function withSets(_key: string, value: unknown): unknown {
  return value instanceof Set ? [...(value as Set<unknown>)] : value;
}
