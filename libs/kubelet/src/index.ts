// SPDX-License-Identifier: Apache-2.0
/** The kubelet's APIs for device plugins and for pod resources, over gRPC on Unix sockets. */
export type { sendUnaryData, ServerWritableStream } from "@grpc/grpc-js";
export { callGrpc } from "./grpc/call-grpc.ts";
export { grpcMethod, type Codec, type Empty } from "./grpc/grpc-method.ts";
export { serveGrpc, type GrpcService } from "./grpc/serve-grpc.ts";
export {
  devicePluginMethods,
  devicePluginVersion,
  registerMethod,
  type ContainerAllocation,
  type Mount,
  type PluginDevice,
  type PreferenceRequest,
} from "./device-plugin-messages.ts";
export {
  listPodResourcesMethod,
  type ContainerDevices,
  type PodDevices,
  type ResourceDevices,
} from "./pod-resources-messages.ts";
export {
  kubeletError,
  readDeviceHolders,
  readHeldDevices,
  readOfferedDevices,
  type DeviceHolder,
  type DevicesByResource,
} from "./read-devices.ts";
export { MessageWriter } from "./protobuf/message-writer.ts";
export { readMessage, type MessageReader } from "./protobuf/read-message.ts";
export { identityOf, watchSockets, type SocketWatch } from "./watch-sockets.ts";
