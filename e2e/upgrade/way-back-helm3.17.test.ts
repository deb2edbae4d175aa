// SPDX-License-Identifier: Apache-2.0
/** The way back to upstream's operator with Helm 3.17, which refuses a rollback. */
import { describeWayBack } from "./describe-way-back.ts";

const rollbackIsRefusedWith = /no ServiceAccount with the name "sriov-network-config-daemon" found/;
describeWayBack({ installedBy: "helm3.17", version: "helm3.17", rollbackIsRefusedWith });
