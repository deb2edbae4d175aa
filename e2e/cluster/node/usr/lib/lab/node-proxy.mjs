// SPDX-License-Identifier: Apache-2.0
/**
 * An HTTP CONNECT proxy (RFC 9110 9.3.6) in the guest, through which the API server on the host reaches the kubelet and the pods,
 * as Konnectivity does in clusters whose control plane is outside of the network of the nodes.
 */
import { createServer } from "node:http";
import { connect } from "node:net";

const port = 8132;

createServer()
  .on("connect", ({ url = "" }, client) => {
    const [host, targetPort] = url.split(":");
    const target = connect(Number(targetPort), host, () => client.write("HTTP/1.1 200 OK\r\n\r\n"));
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
    target.pipe(client).pipe(target);
  })
  .listen(port, "0.0.0.0");
