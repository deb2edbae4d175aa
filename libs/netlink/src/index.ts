// SPDX-License-Identifier: Apache-2.0
export { type Libc, protocols, tryFileLock } from "./libc.ts";
export { sendSeqpackets, type SeqpacketOptions } from "./seqpacket.ts";
export { takePluginLock } from "./unix/plugin-lock.ts";
export { type SeqpacketSystem, loadSeqpacketSystem } from "./unix/seqpacket-system.ts";
export {
  listenSeqpackets,
  type SeqpacketConnection,
  type SeqpacketHandler,
  type SeqpacketServer,
  type SeqpacketMessage,
  type SeqpacketServerOptions,
} from "./unix/seqpacket-server.ts";
export { NetlinkError } from "./netlink-error.ts";
export { NetlinkSocket, type NetlinkRequest, type NetlinkSocketOptions } from "./netlink-socket.ts";
export { resolveFamily, type GenericFamily } from "./generic-netlink.ts";
export {
  getEswitchMode,
  setEswitchMode,
  type EswitchMode,
  devlinkFamily,
  type DevlinkHandle,
  getFlagParameter,
  getTextParameter,
  reloadInstance,
  setFlagParameter,
  setTextParameter,
  listResources,
  type DevlinkResource,
} from "./devlink/devlink.ts";
export { listHealthReporters, type HealthReporter } from "./devlink/health.ts";
export {
  createXskMap,
  openPinnedXskMap,
  openXskMap,
  pinXskMap,
  unpinXskMap,
  xskMapName,
  type XskMap,
} from "./bpf/xsk-map.ts";
export { encodeRedirectObject } from "./bpf/redirect-object.ts";
export { listExtensions, type ProgramExtension } from "./bpf/program-extensions.ts";
export { isRedirectProgram, loadRedirectProgram, openXdpProgram, type XdpProgram } from "./bpf/xdp-program.ts";
export { attachXdp, detachXdp, readXdp, type AttachedXdp, type XdpAttachment, type XdpMode } from "./rtnetlink/xdp.ts";
export {
  addSubfunctionPort,
  deletePort,
  listDevlinkPorts,
  setPortAddress,
  setPortState,
  type DevlinkPort,
  type DevlinkPortFunction,
  type DevlinkPortHandle,
  type NewSubfunction,
} from "./devlink/port.ts";
export {
  getChannels,
  setChannels,
  type ChannelCounts,
  type Channels,
  ethtoolFamily,
  getFeatures,
  setFeature,
  type LinkFeatures,
} from "./ethtool/ethtool.ts";
export { listXdpFeatures, netdevFamily, type XdpFeatures } from "./netdev/xdp-features.ts";
export { getRdmaMode, setRdmaMode, type RdmaMode, setVfGuids, type VfGuid } from "./rdma/rdma.ts";
export {
  createBridge,
  deleteLink,
  listBridges,
  setBridge,
  setLinkAlias,
  setMaster,
  type BridgeLink,
  type NewBridge,
} from "./rtnetlink/bridge.ts";
export {
  bridgePortSettings,
  listBridgePorts,
  setBridgePort,
  type BridgePort,
  type BridgePortSetting,
  type BridgePortSettings,
} from "./rtnetlink/bridge-port.ts";
export { listXdpSockets, type BoundXdpSocket } from "./sock-diag/xdp-sockets.ts";
export {
  addVdpaDevice,
  deleteVdpaDevice,
  listVdpaDevices,
  listVdpaManagementDevices,
  vdpaFamily,
  type NewVdpaDevice,
  type VdpaDevice,
  type VdpaManagementDevice,
  type VdpaManagementHandle,
} from "./vdpa/vdpa.ts";
export type { LinkInfo } from "./rtnetlink/link-message.ts";
export type { LinkVfInfo, VfLinkState, VlanProtocol } from "./rtnetlink/vf-info.ts";
export { getLink, listLinks } from "./rtnetlink/list-links.ts";
export { askNeighbour, readNeighbour, type Neighbour, type NeighbourState } from "./rtnetlink/neighbour.ts";
export {
  connectedNetworks,
  defaultGateways,
  defaultRouteLinks,
  routeLinks,
  type ConnectedNetwork,
  type Gateway,
} from "./rtnetlink/route.ts";
export {
  setLinkMtu,
  setLinkUp,
  setVfAddress,
  setVfSetting,
  type VfAddress,
  type VfSetting,
} from "./rtnetlink/set-link.ts";
export type { EventSink, ListenOptions } from "./events/multicast.ts";
export { watchLinks, type LinkEvent, watchUevents, type Uevent } from "./events/kernel-events.ts";
export { EventQueue, type EventQueueOptions } from "./events/event-queue.ts";
