// SPDX-License-Identifier: Apache-2.0
export type { Libc } from "./libc.ts";
export { protocols } from "./libc.ts";
export { sendSeqpackets, type SeqpacketOptions } from "./seqpacket.ts";
export type { SeqpacketSystem } from "./unix/seqpacket-system.ts";
export { loadSeqpacketSystem } from "./unix/native-seqpacket-system.ts";
export {
  listenSeqpackets,
  type SeqpacketConnection,
  type SeqpacketHandler,
  type SeqpacketMessage,
  type SeqpacketServerOptions,
} from "./unix/seqpacket-server.ts";
export { tryFileLock } from "./file-lock.ts";
export { NetlinkError } from "./netlink-error.ts";
export { NetlinkSocket, type NetlinkRequest, type NetlinkSocketOptions } from "./netlink-socket.ts";
export { resolveFamily, type GenericFamily } from "./generic-netlink.ts";
export { getEswitchMode, setEswitchMode, type EswitchMode } from "./devlink/eswitch.ts";
export { devlinkFamily, type DevlinkHandle } from "./devlink/handle.ts";
export { getTextParameter, setTextParameter } from "./devlink/parameter.ts";
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
export { loadRedirectProgram, openXdpProgram, redirectProgramName, type XdpProgram } from "./bpf/xdp-program.ts";
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
export { listResources, type DevlinkResource } from "./devlink/resource.ts";
export { getChannels, setChannels, type ChannelCounts, type Channels } from "./ethtool/channels.ts";
export { ethtoolFamily } from "./ethtool/device.ts";
export { getFeatures, setFeature, type LinkFeatures } from "./ethtool/features.ts";
export { listXdpFeatures, netdevFamily, type XdpFeatures } from "./netdev/xdp-features.ts";
export { getRdmaMode, setRdmaMode, type RdmaMode } from "./rdma/netns-mode.ts";
export {
  createBridge,
  deleteLink,
  listBridges,
  setBridge,
  setLinkAlias,
  setMaster,
  type BridgeLink,
  type NewBridge,
  type VlanProtocol,
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
export { setVfGuids, type VfGuid } from "./rtnetlink/vf-guid.ts";
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
export type { LinkInfo, LinkVfInfo } from "./rtnetlink/link-message.ts";
export { getLink, listLinks } from "./rtnetlink/list-links.ts";
export { defaultRouteLinks, routeLinks } from "./rtnetlink/route.ts";
export { setLinkMtu, setLinkUp, setVfAddress, type VfAddress } from "./rtnetlink/set-link.ts";
export type { EventSink, ListenOptions } from "./events/multicast.ts";
export { watchLinks, type LinkEvent } from "./events/watch-links.ts";
export { watchUevents, type Uevent } from "./events/watch-uevents.ts";
export { EventQueue, type EventQueueOptions } from "./events/event-queue.ts";
