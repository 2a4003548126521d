{ value: 'a part' }
