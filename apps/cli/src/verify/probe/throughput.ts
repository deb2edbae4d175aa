// SPDX-License-Identifier: Apache-2.0
/** receiveStreams counts the bytes of TCP connections and answers with their number; measureThroughput sends for some seconds. */
import { createConnection, createServer } from "node:net";

const chunk = Buffer.alloc(256 * 1024, "v");
/** Time for the receiver to answer after the last byte. */
const answerMs = 10_000;

export function receiveStreams(address: string, port: number): void {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let bytes = 0;
    socket.on("error", () => undefined);
    socket.on("data", (data) => (bytes += data.length));
    socket.on("end", () => socket.end(`${bytes}`));
  });
  server.on("error", () => undefined);
  server.listen(port, address);
}

export interface StreamOptions {
  readonly from: string;
  readonly to: string;
  readonly port: number;
  readonly seconds: number;
}

/** Resolves with Mbit/s of payload. Rejects if the connection fails or the receiver does not answer. */
export async function measureThroughput({ from, to, port, seconds }: StreamOptions): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = createConnection({ host: to, port, localAddress: from, allowHalfOpen: true });
  let startMs = 0;
  let answer = "";
  let isOver = false;
  const timer = setTimeout(
    () => {
      socket.destroy(new Error("ETIMEDOUT: no answer"));
    },
    seconds * 1000 + answerMs,
  );
  const fill = (): void => {
    while (!isOver && socket.write(chunk));
  };
  socket.on("connect", () => {
    startMs = performance.now();
    setTimeout(() => {
      isOver = true;
      socket.end();
    }, seconds * 1000);
    fill();
  });
  socket.on("drain", fill);
  socket.on("data", (data) => (answer += data.toString()));
  socket.on("error", reject);
  socket.on("close", () => {
    const bits = Number(answer) * 8;
    resolve(bits / 1000 / (performance.now() - startMs));
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}
