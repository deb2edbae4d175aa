// SPDX-License-Identifier: Apache-2.0
/**
 * The messages of the kubelet's API for drivers of dynamic resource allocation: k8s.io/kubelet/pkg/apis/dra/v1, which the kubelet speaks
 * since Kubernetes 1.34.
 * Usage: `const answers = await callGrpc(draPluginMethods.nodePrepareResources, [claim], target);`
 */
import { grpcMethod, type Codec } from "../grpc/grpc.ts";
import { MessageWriter, readMessage } from "../protobuf/protobuf.ts";

/** A ResourceClaim of a call. */
export interface ClaimRef {
  readonly namespace: string;
  readonly uid: string;
  readonly name: string;
}

/** A device that a container gets with a claim. */
export interface PreparedDevice {
  /** Requests of the claim that the device is for: "request" or "request/subrequest". Empty for all. */
  readonly requests: readonly string[];
  readonly pool: string;
  readonly device: string;
  /** Full names of CDI devices: "example.com/vf=0000:3b:00.2". */
  readonly cdiDevices: readonly string[];
}

/** The answer for one claim. */
export type PrepareAnswer = { readonly devices: readonly PreparedDevice[] } | { readonly error: string };

/** By the uid of the claim. */
export type PrepareAnswers = ReadonlyMap<string, PrepareAnswer>;

/** Errors by the uid of the claim; undefined for a claim that is unprepared. */
export type UnprepareAnswers = ReadonlyMap<string, string | undefined>;

const claims: Codec<readonly ClaimRef[]> = {
  encode: (list) =>
    new MessageWriter()
      .messages(
        1,
        list.map(({ namespace, uid, name }) => new MessageWriter().text(1, namespace).text(2, uid).text(3, name)),
      )
      .finish(),
  decode: (bytes) =>
    readMessage(bytes)
      .messages(1)
      .map(({ text }) => ({ namespace: text(1), uid: text(2), name: text(3) })),
};

const prepareAnswers: Codec<PrepareAnswers> = {
  encode: (answers) => writeMap(answers, writePrepared),
  decode: (bytes) =>
    new Map(
      readMessage(bytes)
        .messages(1)
        .map(({ text, messages }): [string, PrepareAnswer] => {
          const [answer] = messages(2);
          const error = answer?.text(2) ?? "";
          if (error !== "") return [text(1), { error }];
          const devices = (answer?.messages(1) ?? []).map((device) => ({
            requests: device.texts(1),
            pool: device.text(2),
            device: device.text(3),
            cdiDevices: device.texts(4),
          }));
          return [text(1), { devices }];
        }),
    ),
};

const unprepareAnswers: Codec<UnprepareAnswers> = {
  encode: (answers) => writeMap(answers, (error) => new MessageWriter().text(1, error ?? "")),
  decode: (bytes) =>
    new Map(
      readMessage(bytes)
        .messages(1)
        .map(({ text, messages }): [string, string | undefined] => {
          const error = messages(2)[0]?.text(1) ?? "";
          return [text(1), error === "" ? undefined : error];
        }),
    ),
};

function writePrepared(answer: PrepareAnswer): MessageWriter {
  if ("error" in answer) return new MessageWriter().text(2, answer.error);
  return new MessageWriter().messages(
    1,
    answer.devices.map(({ requests, pool, device, cdiDevices }) =>
      new MessageWriter().texts(1, requests).text(2, pool).text(3, device).texts(4, cdiDevices),
    ),
  );
}

/** A map of a protobuf message is a list of messages with a key and a value. */
function writeMap<Value>(map: ReadonlyMap<string, Value>, write: (value: Value) => MessageWriter): Buffer {
  const entries = [...map].map(([key, value]) => new MessageWriter().text(1, key).message(2, write(value)));
  return new MessageWriter().messages(1, entries).finish();
}

/** The methods of a driver, which the kubelet calls. Each claim of a call needs an entry in the answer. */
export const draPluginMethods = {
  nodePrepareResources: grpcMethod(
    "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources",
    claims,
    prepareAnswers,
  ),
  nodeUnprepareResources: grpcMethod(
    "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodeUnprepareResources",
    claims,
    unprepareAnswers,
  ),
};
