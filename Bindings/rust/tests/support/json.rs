//! Reads the lines of conformance.json: one flat object each, of texts, integers, booleans and lists of
//! texts.
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<String>),
}

pub type Object = BTreeMap<String, Value>;

pub fn line(text: &str) -> Result<Object, String> {
    let mut reader = Reader { rest: text.trim() };
    let mut members = Object::new();
    reader.expect('{')?;
    while !reader.take('}') {
        if !members.is_empty() {
            reader.expect(',')?;
        }
        let name = reader.text()?;
        reader.expect(':')?;
        let value = reader.value()?;
        members.insert(name, value);
    }
    if reader.rest.is_empty() {
        Ok(members)
    } else {
        Err(reader.mistake())
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn mistake(&self) -> String {
        format!("not JSON: {:.40}", self.rest)
    }

    fn take(&mut self, wanted: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.take(wanted) {
            Ok(())
        } else {
            Err(self.mistake())
        }
    }

    fn value(&mut self) -> Result<Value, String> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('"') {
            return self.text().map(Value::Text);
        }
        if self.take('[') {
            return self.list().map(Value::List);
        }
        let end = self.rest.find([',', '}']).ok_or_else(|| self.mistake())?;
        let (word, rest) = self.rest.split_at(end);
        let value = match word.trim() {
            "true" => Value::Flag(true),
            "false" => Value::Flag(false),
            number => Value::Number(number.parse().map_err(|_| self.mistake())?),
        };
        self.rest = rest;
        Ok(value)
    }

    fn list(&mut self) -> Result<Vec<String>, String> {
        let mut all = Vec::new();
        while !self.take(']') {
            if !all.is_empty() {
                self.expect(',')?;
            }
            all.push(self.text()?);
        }
        Ok(all)
    }

    fn text(&mut self) -> Result<String, String> {
        self.expect('"')?;
        let mut units: Vec<u16> = Vec::new();
        let mut rest = self.rest.chars();
        loop {
            match rest.next().ok_or_else(|| self.mistake())? {
                '"' => break,
                '\\' => match rest.next() {
                    Some('n') => units.push(10),
                    Some('t') => units.push(9),
                    Some('r') => units.push(13),
                    Some('b') => units.push(8),
                    Some('f') => units.push(12),
                    Some('u') => {
                        let digits: String = rest.by_ref().take(4).collect();
                        units.push(u16::from_str_radix(&digits, 16).map_err(|_| self.mistake())?);
                    }
                    Some(other @ ('"' | '\\' | '/')) => units.push(other as u16),
                    _ => return Err(self.mistake()),
                },
                other => units.extend_from_slice(other.encode_utf16(&mut [0; 2])),
            }
        }
        self.rest = rest.as_str();
        String::from_utf16(&units).map_err(|_| self.mistake())
    }
}
