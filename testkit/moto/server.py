# Starts moto_server, made faster where it takes most of its time:
# - Before a transaction it copies each table once for every operation, with all items, to be able to
#   restore it. Here a copy of a table shares its items, and an update changes a copy of its item.
# - It looks up each of the ten members that an attribute value may have, by several names. Here
#   values of simple types are written as they are.
import copy
import functools
import sys
import threading
from collections import defaultdict

from moto.core.serialize import BaseJSONSerializer
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.table import Table
from moto.server import main

SIMPLE_TYPES = {"S", "N", "BOOL", "NULL", "SS", "NS"}


def copy_of_table(table, memo):
    copied = copy.copy(table)
    copied.items = defaultdict(dict)
    for hash_key, found in table.items.items():
        copied.items[hash_key] = dict(found) if table.has_range_key else found
    return copied


original_update = DynamoDBBackend.update_item


def update_of_a_copy(backend, table_name, key, *args, **kwargs):
    item = backend.get_item(table_name, key)
    if item is not None:
        table = backend.get_table(table_name)
        if table.has_range_key:
            table.items[item.hash_key][item.range_key] = copy.deepcopy(item)
        else:
            table.items[item.hash_key] = copy.deepcopy(item)
    return original_update(backend, table_name, key, *args, **kwargs)


original_structure = BaseJSONSerializer._serialize_type_structure


def structure(serializer, serialized, value, shape, key):
    if key and shape.name == "AttributeValue" and isinstance(value, dict) and SIMPLE_TYPES.issuperset(value):
        serialized[key] = value
    else:
        original_structure(serializer, serialized, value, shape, key)


Table.__deepcopy__ = copy_of_table
DynamoDBBackend.update_item = update_of_a_copy
BaseJSONSerializer._serialize_type_structure = structure

lock = threading.RLock()  # an operation on items is one step, as in DynamoDB


def one_step(operation):
    @functools.wraps(operation)
    def locked(*args, **kwargs):
        with lock:
            return operation(*args, **kwargs)

    return locked


for name in ("get_item", "put_item", "update_item", "delete_item", "transact_write_items"):
    setattr(DynamoDBBackend, name, one_step(getattr(DynamoDBBackend, name)))
sys.exit(main())
