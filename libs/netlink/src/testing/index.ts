// SPDX-License-Identifier: Apache-2.0
export { createFakeKernel, type FakeKernel, type Respond, ack, done, reply } from "./fake-kernel.ts";
export { createNetworkNamespace, missingForNamespaces, type NetworkNamespace } from "./network-namespace.ts";
export { loadForeignXdpProgram, openXdpSocket, type XdpSocket, type XdpSocketOptions } from "./xdp-socket.ts";
