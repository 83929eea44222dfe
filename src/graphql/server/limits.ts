import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getNullableType,
  getVariableValues,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { RequestRefused } from './errors.js';

/*
 * How much an operation may ask for, judged before anything is read. A field costs 1 or what its `complexity` says, one
 * at the root at least `queryCost`, or `mutationCost`: it is what asks the database. A list multiplies what one element costs by its page
 * size, or by `assumedLength` where it has none. Aliases count each.
 */

export interface OperationLimits {
  readonly depth: number;
  readonly cost: number;
}

/** A query of the database, and its way there and back, takes as long as so many fields of an answer. */
const queryCost = 50;
/** A change reads what happened before, writes to the log for ever, and waits until it can be seen. */
const mutationCost = 250;
/** What one operation may ask for side by side; the console's largest has three. */
const maxAtRoot = 10;
/** What a list without a page size is taken to hold. */
const assumedLength = 10;
/** Arguments that say how many elements a list will have at most. */
const sizeArguments = ['size', 'first'] as const;
/** The engine bounds the depth of introspection itself; it reads the schema, not the database. */
const introspectionCost = 100;

interface Measure {
  readonly depth: number;
  readonly cost: number;
}

const nothing: Measure = { depth: 0, cost: 0 };

export interface MeasuredOperation extends Measure {
  /** Fields at the root, those of fragments included. */
  readonly atRoot: number;
  readonly introspects: boolean;
}

/** The document must be valid: without fragment cycles and unknown fields. */
export function measureOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: { readonly [name: string]: unknown },
): MeasuredOperation {
  // With defaults filled in: what counts is what will be executed. Wrong values are reported by the engine, which then
  // executes nothing.
  const { coerced = {} } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  // A fragment is measured once, however often it is spread: its cost may grow exponentially, the measuring must not.
  const measured = new Map<string, Measure>();
  let introspects = false;

  const root = schema.getRootType(operation.operation);

  const ofSelections = ({ selections }: SelectionSetNode, type: GraphQLOutputType, sized: boolean): Measure => {
    let depth = 0;
    let cost = 0;
    for (const selection of selections) {
      const part =
        selection.kind === Kind.FIELD
          ? ofField(selection, type, sized)
          : selection.kind === Kind.INLINE_FRAGMENT
            ? ofSelections(selection.selectionSet, narrowed(type, selection.typeCondition?.name.value), sized)
            : ofFragment(selection.name.value, type, sized);
      depth = Math.max(depth, part.depth);
      cost += part.cost;
    }
    return { depth, cost };
  };

  const ofFragment = (name: string, type: GraphQLOutputType, sized: boolean): Measure => {
    const fragment = fragments.get(name);
    if (fragment === undefined) return nothing;
    const key = `${name} ${sized}`;
    let found = measured.get(key);
    if (found === undefined) {
      found = ofSelections(fragment.selectionSet, narrowed(type, fragment.typeCondition.name.value), sized);
      measured.set(key, found);
    }
    return found;
  };

  const rootCost = operation.operation === 'mutation' ? mutationCost : queryCost;

  /** `sized`: an enclosing field has said how long the next list is. */
  const ofField = (node: FieldNode, parent: GraphQLOutputType, sized: boolean): Measure => {
    const name = node.name.value;
    if (name === '__schema' || name === '__type') {
      introspects = true;
      return { depth: 0, cost: introspectionCost };
    }
    const composite = getNamedType(parent);
    const field = isObjectType(composite) || isInterfaceType(composite) ? composite.getFields()[name] : undefined;
    if (field === undefined) return { depth: 1, cost: 0 };
    const size = pageSize(field, node, coerced);
    const list = isListType(getNullableType(field.type));
    const below =
      node.selectionSet === undefined
        ? nothing
        : ofSelections(node.selectionSet, field.type, size !== null || (sized && !list));
    const elements = size ?? (list && !sized ? assumedLength : 1);
    const own = composite === root ? Math.max(ownCost(field), rootCost) : ownCost(field);
    return { depth: below.depth + 1, cost: own + elements * below.cost };
  };

  const narrowed = (type: GraphQLOutputType, name: string | undefined): GraphQLOutputType => {
    const condition = name === undefined ? undefined : schema.getType(name);
    return isCompositeType(condition) ? condition : type;
  };

  const { depth, cost } = root ? ofSelections(operation.selectionSet, root, false) : nothing;
  return { depth, cost, atRoot: fieldsIn(operation.selectionSet, fragments, new Map()), introspects };
}

/** Fields of a selection set with those of its fragments, however often they are spread. */
function fieldsIn(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  counted: Map<string, number>,
): number {
  let fields = 0;
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) fields++;
    else if (selection.kind === Kind.INLINE_FRAGMENT) fields += fieldsIn(selection.selectionSet, fragments, counted);
    else {
      const name = selection.name.value;
      const fragment = fragments.get(name);
      if (!counted.has(name) && fragment !== undefined)
        counted.set(name, fieldsIn(fragment.selectionSet, fragments, counted));
      fields += counted.get(name) ?? 0;
    }
  }
  return fields;
}

const ownCost = ({ extensions }: GraphQLField<unknown, unknown>): number =>
  typeof extensions.complexity === 'number' ? extensions.complexity : 1;

function pageSize(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: { readonly [name: string]: unknown },
): number | null {
  if (!field.args.some(({ name }) => sizeArguments.some((size) => size === name))) return null;
  let values: { readonly [name: string]: unknown };
  try {
    values = getArgumentValues(field, node, variables);
  } catch {
    // A variable that could not be read: the engine will say so and not execute the field.
    return 1;
  }
  const given = sizeArguments.map((name) => values[name]).find((size) => typeof size === 'number');
  return typeof given === 'number' ? Math.max(given, 1) : assumedLength;
}

/** Throws RequestRefused when the operation asks for too much. */
export function checkLimits(
  { depth, cost, atRoot }: Omit<MeasuredOperation, 'introspects'>,
  limits: OperationLimits,
): void {
  if (atRoot > maxAtRoot)
    throw new RequestRefused('too-many-fields-at-the-root', { fields: atRoot, allowed: maxAtRoot });
  if (depth > limits.depth) throw new RequestRefused('too-deep', { depth, allowed: limits.depth });
  if (cost > limits.cost) throw new RequestRefused('too-costly', { cost, allowed: limits.cost });
}
